"use strict";

// What the authorization server answered goes to the window that asked.
const asked = window.opener?.swaggerUIRedirectOauth2;
if (asked) {
  const answer = new URLSearchParams(location.search);
  const { auth, redirectUrl } = asked;
  const code = answer.get("code");
  if (code && answer.get("state") === asked.state) {
    delete asked.state; // it is good once
    auth.code = code;
    asked.callback({ auth, redirectUrl });
  } else {
    const message = answer.get("error_description") || answer.get("error") || "The answer is not to the question that was asked.";
    asked.errCb({ authId: auth.name, source: "auth", level: "error", message });
  }
  window.close();
}
