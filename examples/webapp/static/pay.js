// Pays without leaving the page, so that what was typed is still there if the payment is
// refused: a card's number is never sent back in a page. Without this script the form works
// too, and the number has to be typed again.
const paying = document.querySelector("form[data-pay]");
const messages = document.querySelector("[data-messages]");

// Whether the check digit of a card number is right (ISO/IEC 7812).
function luhn(number) {
  let sum = 0;
  [...number].reverse().forEach((digit, i) => {
    const twice = Number(digit) * (i % 2 ? 2 : 1);
    sum += twice > 9 ? twice - 9 : twice;
  });
  return number.length >= 12 && sum % 10 === 0;
}

function check() {
  const number = paying.number.value.replace(/[\s.\p{Pd}]/gu, "");
  paying.number.setCustomValidity(/^\d+$/.test(number) && luhn(number) ? "" : "This is not a valid card number: check its digits.");
  const expiry = /^\s*(\d{1,2}\D+(\d\d|\d{4})|\d{4}|\d{6}|\d{4}\D+\d{1,2})\s*$/.test(paying.expiry.value);
  paying.expiry.setCustomValidity(expiry ? "" : "Give the month and the year, such as 04/30.");
  paying.cvc.setCustomValidity(/^\s*\d{3,4}\s*$/.test(paying.cvc.value) ? "" : "The security code has three or four digits.");
}

async function pay() {
  const answer = await fetch(paying.action, { method: "POST", body: new URLSearchParams(new FormData(paying)) });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const form = page.querySelector("form[data-pay]");
  if (answer.ok && !form) {
    location.assign(answer.url);
    return;
  }
  if (!form) { // it cannot be paid any more
    document.querySelector("main").replaceWith(page.querySelector("main"));
    return;
  }
  // A new attempt, for what is to be paid now.
  paying.querySelectorAll("input[type=hidden]").forEach(input => input.remove());
  paying.prepend(...form.querySelectorAll("input[type=hidden]"));
  for (const field of form.querySelectorAll("input[id], select[id]")) {
    const mine = document.getElementById(field.id);
    for (const name of ["aria-invalid", "aria-describedby"]) {
      if (field.hasAttribute(name)) mine.setAttribute(name, field.getAttribute(name));
      else mine.removeAttribute(name);
    }
  }
  messages.replaceChildren(...page.querySelector("[data-messages]").childNodes);
  document.getElementById("what").parentElement.replaceWith(page.getElementById("what").parentElement);
  paying.querySelector("button").textContent = form.querySelector("button").textContent;
  messages.querySelector(".fault")?.focus();
}

if (paying) {
  for (const input of [paying.number, paying.expiry, paying.cvc]) {
    input.addEventListener("input", check);
  }
  check();
  paying.addEventListener("submit", async event => {
    if (event.defaultPrevented) return; // it is being sent
    event.preventDefault();
    const button = paying.querySelector("button");
    try {
      await pay();
    } catch {
      messages.textContent = "The site does not answer. Check your bookings before you try again.";
    }
    delete paying.dataset.sent;
    button.removeAttribute("aria-disabled");
    if (button.textContent === button.dataset.busy) button.textContent = button.dataset.idle;
  });
}
