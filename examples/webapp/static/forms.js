// A form that books, pays or cancels is sent once. The server would do it once
// anyway: this spares people the doubt.
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", event => {
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    if (event.submitter?.name) return; // it changes the form, and does nothing
    form.dataset.sent = "yes";
    const button = form.querySelector("button[data-busy]");
    button.dataset.idle = button.textContent;
    button.textContent = button.dataset.busy;
    button.setAttribute("aria-disabled", "true");
  });
}

// Who comes back to a page that the browser has kept may send its form again.
addEventListener("pageshow", event => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    const button = form.querySelector("button[data-busy]");
    button.textContent = button.dataset.idle;
    button.removeAttribute("aria-disabled");
  }
});
