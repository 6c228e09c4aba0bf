// Completes the names of stations, as the combobox pattern of the ARIA Authoring
// Practices has it. Without this script the form works too: the server asks which
// station is meant.
for (const form of document.querySelectorAll("[data-search]")) {
  const status = form.querySelector("[data-status]");
  const boxes = [...form.querySelectorAll("[data-stations]")].map(input => combobox(input, status));
  const swap = form.querySelector("[data-swap]");
  swap.hidden = false;
  swap.addEventListener("click", () => {
    const [from, to] = boxes.map(box => box.value());
    boxes[0].set(to);
    boxes[1].set(from);
    status.textContent = `From ${to.name} to ${from.name}`;
  });
}

function combobox(input, status) {
  const id = input.nextElementSibling; // of the station that was chosen
  const list = document.createElement("ul");
  list.id = `${input.id}-stations`;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Stations");
  list.hidden = true;
  id.after(list);
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) {
    input.setAttribute(name, value);
  }
  let stations = [], active = -1, timer, request;

  const set = station => {
    input.value = station.name;
    id.value = station.id;
  };
  const close = () => {
    clearTimeout(timer);
    request?.abort();
    list.removeAttribute("aria-busy");
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    move(-1);
  };
  const move = to => {
    active = to;
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === active)));
    if (active < 0) {
      input.removeAttribute("aria-activedescendant");
      return;
    }
    input.setAttribute("aria-activedescendant", list.children[active].id);
    list.children[active].scrollIntoView({ block: "nearest" });
  };
  const choose = i => {
    set(stations[i]);
    status.textContent = `${stations[i].name} chosen`;
    close();
  };
  const option = (station, i) => {
    const item = document.createElement("li");
    item.id = `${list.id}-${i}`;
    item.setAttribute("role", "option");
    const name = document.createElement("strong"), address = document.createElement("span");
    name.textContent = station.name; // as text: a name is never markup
    address.textContent = station.address;
    item.append(name, " ", address);
    item.addEventListener("pointerdown", event => event.preventDefault()); // the input keeps the focus
    item.addEventListener("click", () => choose(i));
    return item;
  };
  const show = answer => {
    list.removeAttribute("aria-busy");
    stations = answer.stations;
    list.replaceChildren(...stations.map(option));
    move(-1);
    list.hidden = stations.length === 0;
    input.setAttribute("aria-expanded", String(stations.length > 0));
    const n = stations.length;
    status.textContent = answer.problem ?? (n === 0 ? "No station found" : n === 1 ? "1 station found" : `${n} stations found`);
    status.classList.toggle("unseen", n > 0);
  };
  const ask = async () => {
    request?.abort(); // only the last question counts
    request = new AbortController();
    try {
      const answer = await fetch(`${new URL("stations", input.form.action)}?q=${encodeURIComponent(input.value.trim())}`, { signal: request.signal });
      show(await answer.json());
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };

  input.addEventListener("input", () => {
    id.value = "";
    clearTimeout(timer);
    if (input.value.trim() === "") {
      close();
      return;
    }
    list.setAttribute("aria-busy", "true");
    timer = setTimeout(ask, 150);
  });
  input.addEventListener("keydown", event => {
    const open = !list.hidden, last = stations.length - 1;
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        event.preventDefault();
        if (!open) ask();
        else if (event.key === "ArrowDown") move(active < last ? active + 1 : 0);
        else move(active > 0 ? active - 1 : last);
        break;
      case "Enter":
        if (open && active >= 0) {
          event.preventDefault();
          choose(active);
        }
        break;
      case "Escape":
        if (open) event.preventDefault();
        close();
        break;
    }
  });
  input.addEventListener("blur", close);
  input.addEventListener("focus", () => input.select());
  return { value: () => ({ name: input.value, id: id.value }), set };
}
