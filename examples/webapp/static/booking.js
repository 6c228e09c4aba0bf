// Counts down how long the seats are kept, and notices when a payment is settled.
// The server says how many seconds are left: the clock of the device may be wrong.
const left = document.querySelector("[data-left]");
if (left) {
  const count = left.querySelector("[data-count]");
  const end = performance.now() + 1000 * Number(left.dataset.left);
  const show = () => {
    const rest = end - performance.now();
    const seconds = Math.max(0, Math.round(rest / 1000));
    const minutes = Math.floor(seconds / 60);
    count.textContent = `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
    left.classList.toggle("soon", minutes < 10);
    if (rest > -1500) return; // the end was told in whole seconds
    clearInterval(timer);
    location.reload();
  };
  const timer = setInterval(show, 1000);
  if (Number(left.dataset.left) > 0) {
    show();
    count.hidden = false;
  } else {
    clearInterval(timer);
  }
}

// Looks again less and less often.
async function settle(wait) {
  await new Promise(done => setTimeout(done, wait));
  try {
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    const state = page.querySelector("[data-state]");
    if (!state || state.dataset.state !== "pending") {
      location.reload();
      return;
    }
  } catch {
    // the network is away: try again
  }
  settle(Math.min(1.5 * wait, 60000));
}
if (document.querySelector("[data-state=pending]")) settle(2000);
