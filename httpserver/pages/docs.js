"use strict";

// The page shows the description of the server that it came from, and sends requests
// there: by whatever name the browser knows the server, which may be another than the
// server's own.
const root = new URL("../", document.currentScript.src).href.replace(/\/$/, "");

// What the description says of the API as a whole comes after the operations.
const operationsFirst = (about) => ({ React, getComponent }) => ({
  components: {
    OperationsFirst: () => {
      const Base = getComponent("BaseLayout", true), Markdown = getComponent("Markdown", true);
      return React.createElement("div", null,
        React.createElement(Base),
        React.createElement("section", { className: "swagger-ui", id: "about", "aria-label": "About the API" },
          React.createElement("div", { className: "wrapper info" },
            React.createElement(Markdown, { source: about }))));
    },
  },
  wrapComponents: {
    // A link inside the button that opens an operation could not be reached by its name.
    DeepLink: () => ({ text }) => React.createElement("span", null, text),
  },
});

// The address that ends in #sign-in opens the dialog about tokens.
let signIn = location.hash === "#sign-in";

// mend gives names and levels to what has none for people who do not see the page.
function mend() {
  if (signIn) {
    if (document.querySelector(".dialog-ux")) signIn = false;
    else setTimeout(() => document.querySelector(".btn.authorize.unlocked")?.click());
  }
  const set = (selector, name, value) => {
    for (const e of document.querySelectorAll(selector)) {
      if (e.getAttribute(name) !== value) e.setAttribute(name, value);
    }
  };
  const level = (selector, n) => { set(selector, "role", "heading"); set(selector, "aria-level", String(n)); };
  level("#docs .info .title", 1);
  level("#docs .opblock-tag", 2);
  level("#docs .opblock h4, #docs .opblock h5", 3);
  level("#docs section.models h4, #docs .webhooks h2, #docs .webhooks h3", 2);
  level("#about h2", 2);
  level("#docs .dialog-ux h3", 2);
  level("#docs .dialog-ux :is(h4, h5, h6)", 3);
  set("#docs .close-modal", "aria-label", "Close");
  for (const e of document.querySelectorAll("#docs .dialog-ux .modal-btn[aria-label]")) e.removeAttribute("aria-label"); // its text says it
  set("#servers", "aria-label", "Server");
  set("#docs .opblock .opblock-body pre, #docs .microlight", "tabindex", "0");
  for (const e of document.querySelectorAll("#docs .opblock-body :is(select, input, textarea):not([aria-label])")) {
    e.setAttribute("aria-label", e.closest("tr")?.dataset.paramName ?? e.placeholder ?? "Value");
    if (!e.getAttribute("aria-label")) e.setAttribute("aria-label", "Value");
  }
}

async function show() {
  const answer = await fetch(root + "/openapi.json");
  if (!answer.ok) throw new Error("openapi.json: " + answer.status);
  const text = await answer.text();
  const spec = JSON.parse(text.replaceAll(JSON.parse(text).servers[0].url, root));
  const about = spec.info.description;
  delete spec.info.description;
  const ui = SwaggerUIBundle({
    spec,
    dom_id: "#docs",
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [operationsFirst(about)],
    layout: "OperationsFirst",
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    oauth2RedirectUrl: root + "/docs/signed-in.html",
  });
  new MutationObserver(mend).observe(document.querySelector("#docs"), { childList: true, subtree: true });
  // The client that the built-in authorization server knows.
  ui.initOAuth({ clientId: "traintravel-demo", scopes: ["read", "write"], usePkceWithAuthorizationCodeGrant: true });
}

show().catch((e) => { document.querySelector("#docs").textContent = "The page cannot be shown: " + e.message; });
