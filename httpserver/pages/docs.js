"use strict";

// The page shows the description of the server that it came from, and sends requests
// there: by whatever name the browser knows the server, which may be another than the
// server's own.
const root = new URL("../", document.currentScript.src).href.replace(/\/$/, "");

async function show() {
  const answer = await fetch(root + "/openapi.json");
  if (!answer.ok) throw new Error("openapi.json: " + answer.status);
  const text = await answer.text();
  const ui = SwaggerUIBundle({
    spec: JSON.parse(text.replaceAll(JSON.parse(text).servers[0].url, root)),
    dom_id: "#docs",
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    oauth2RedirectUrl: root + "/docs/signed-in.html",
  });
  // The client that the built-in authorization server knows.
  ui.initOAuth({ clientId: "traintravel-demo", scopes: ["read", "write"], usePkceWithAuthorizationCodeGrant: true });
}

show().catch((e) => { document.querySelector("#docs").textContent = "The page cannot be shown: " + e.message; });
