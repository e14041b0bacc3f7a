// The panel of a page that plays from disk: what is shown over the mechanism, views, curves in step with the
// picture. What it knows was written beside it when the page was saved; names are only ever set as text.
(() => {
  const data = JSON.parse(document.getElementById("lw-data").textContent);
  const COLOURS = data.colours, SVG = "http://www.w3.org/2000/svg";
  const viser = () => window.__viserMutable;
  const tell = message => { viser().messageQueue.push(message); viser().requestRender(); };
  const make = (tag, words = {}, ...inside) => {
    const item = document.createElement(tag);
    for (const [word, value] of Object.entries(words)) item[word] = value;
    item.append(...inside);
    return item;
  };
  const draw = (tag, words, inside = "") => {
    const item = document.createElementNS(SVG, tag);
    for (const [word, value] of Object.entries(words)) item.setAttribute(word, value);
    item.textContent = inside;
    return item;
  };
  const numbers = text => new Float32Array(Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer);

  // time: the bar below the picture has it, in seconds from the start
  const slider = () => document.querySelector("[role=slider]");
  const now = () => data.start + parseFloat(slider()?.getAttribute("aria-valuenow") ?? 0);
  let there = 0;  // where the picture is to go: the last that was asked for
  const go = t => {
    there = Math.max(0, Math.min((t - data.start) / data.span, 1));
    const bar = slider()?.closest(".mantine-Paper-root");
    if (!bar?.querySelector("[class*=player-pause]")) return press();
    bar.querySelector("button").click();  // stop first: what plays would go on from where it was
    setTimeout(press, 100);
  };
  const press = () => {  // on the bar, as with a mouse
    const track = slider().closest(".mantine-Slider-root").querySelector(".mantine-Slider-trackContainer");
    const box = track.getBoundingClientRect();
    const words = { clientX: box.left + box.width * there, clientY: box.top + box.height / 2, bubbles: true };
    track.dispatchEvent(new MouseEvent("mousedown", words));
    document.dispatchEvent(new MouseEvent("mouseup", words));
  };

  // overlays: a loop of the player shows what was saved; what is chosen here is set again
  const wanted = new Map(data.overlays.map(({ word, on }) => [word, on]));
  const asked = new Map();  // by node: when; a page that draws slowly is not asked again and again
  const obey = () => {
    for (const { word, nodes } of data.overlays)
      for (const name of nodes) {
        const node = viser()?.nodeRefFromName?.[name];
        if (!node || node.visible === wanted.get(word) || performance.now() - (asked.get(name) ?? -1e9) < 500) continue;
        asked.set(name, performance.now());
        tell({ type: "SetSceneNodeVisibilityMessage", name, visible: wanted.get(word), owner: "" });
      }
  };

  // dark or light: as the browser prefers, until somebody chooses; what the player says of it is changed on its way
  let dark = matchMedia("(prefers-color-scheme: dark)").matches, told = -1e9;
  const theme = message => message?.type === "ThemeConfigurationMessage" ? { ...message, dark_mode: dark }
    : message?.name === data.floor.name && message.props?.cell_color ? { ...message, props: { ...message.props, ...data.floor[dark] } }
    : message;
  const shade = () => {
    const queue = viser()?.messageQueue, scheme = document.documentElement.getAttribute("data-mantine-color-scheme");
    if (queue && !queue.shaded) {
      const push = queue.push;
      queue.push = (...messages) => push.apply(queue, messages.map(theme));
      queue.shaded = true;
    }
    if (!queue || !scheme || (scheme === "dark") === dark || performance.now() - told < 500) return;
    told = performance.now();
    tell({ type: "ThemeConfigurationMessage", titlebar_content: null, control_layout: "collapsible",
      control_width: "large", show_logo: false, show_share_button: false, colors: null });
    tell({ type: "SceneNodeUpdateMessage", name: data.floor.name, updates: data.floor[dark], owner: "" });
  };

  // views: fitted to the picture until somebody turns it
  let view = data.views[0].name, turned = false;
  const look = name => {
    view = name;
    const canvas = document.querySelector("canvas");
    if (!viser()?.cameraControl || !canvas?.clientHeight) return false;
    const aspect = canvas.clientWidth / canvas.clientHeight;
    const { up, places } = data.views.find(each => each.name === name);
    const { position, look_at } = places.filter(each => each.aspect <= aspect).pop() ?? places[0];
    tell({ type: "SetCameraUpDirectionMessage", position: up, initial: false });
    tell({ type: "SetCameraPositionMessage", position, initial: false });
    tell({ type: "SetCameraLookAtMessage", look_at, initial: false });
    return true;
  };

  // curves
  const WIDE = 268, HIGH = 120, LEFT = 44, TOP = 6, LOW = 18;
  const times = data.channels.length ? numbers(data.times) : new Float32Array(0);
  const nice = span => {
    const power = 10 ** Math.floor(Math.log10(span / 3));
    return [1, 2, 5, 10].map(f => f * power).find(step => span / step <= 4);
  };
  const short = x => Math.abs(x) >= 1e5 || (x && Math.abs(x) < 1e-3) ? x.toExponential(1) : String(+x.toPrecision(4));
  const shown = new Map();  // by name: what moves the cursor
  const plot = name => {
    const channel = data.channels.find(each => each.name === name);
    if (!channel || shown.has(name)) return;
    const curves = channel.curves.map(each => ({ label: each.label, values: numbers(each.values) }));
    let [low, high] = channel.range;
    const first = times[0], last = times[times.length - 1];
    const x = t => LEFT + (WIDE - LEFT - 6) * (t - first) / (last - first || 1);
    const y = v => TOP + (HIGH - TOP - LOW) * (1 - (v - low) / (high - low || 1));
    const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "lw-curve" });
    for (let k = Math.ceil(low / nice(high - low)); k * nice(high - low) <= high; k++) {
      const v = k * nice(high - low);
      svg.append(draw("line", { x1: LEFT, x2: WIDE - 6, y1: y(v), y2: y(v), class: "grid" }),
        draw("text", { x: LEFT - 4, y: y(v) + 3, "text-anchor": "end" }, short(v)));
    }
    for (let k = Math.ceil(first / nice(last - first)); k * nice(last - first) <= last; k++) {
      const t = k * nice(last - first);
      svg.append(draw("line", { x1: x(t), x2: x(t), y1: TOP, y2: HIGH - LOW, class: "grid" }),
        draw("text", { x: x(t), y: HIGH - 6, "text-anchor": "middle" }, short(t)));
    }
    curves.forEach(({ values }, n) => {
      let line = "", gap = true;
      values.forEach((v, k) => {
        if (!Number.isFinite(v)) { gap = true; return; }
        line += `${gap ? "M" : "L"}${x(times[k]).toFixed(1)} ${y(v).toFixed(1)}`;
        gap = false;
      });
      svg.append(draw("path", { d: line, fill: "none", stroke: COLOURS[n % COLOURS.length], "stroke-width": 1.4 }));
    });
    const cursor = draw("line", { y1: TOP, y2: HIGH - LOW, class: "now" });
    svg.append(cursor);
    const seek = event => {
      const box = svg.getBoundingClientRect();
      const part = ((event.clientX - box.left) * WIDE / box.width - LEFT) / (WIDE - LEFT - 6);
      go(first + Math.max(0, Math.min(part, 1)) * (last - first));
    };
    svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); seek(event); });
    svg.addEventListener("pointermove", event => { if (event.buttons) seek(event); });
    const close = make("button", { textContent: "×", title: "remove this curve", className: "lw-close" });
    const said = curves.map((_, n) => make("span", { style: `color:${COLOURS[n % COLOURS.length]}` }));
    const block = make("div", { className: "lw-chart" },
      make("div", { className: "lw-what" }, `${name}: ${channel.axis}`, close), svg,
      make("div", { className: "lw-said" }, ...said));
    close.onclick = () => { block.remove(); shown.delete(name); };
    charts.append(block);
    shown.set(name, t => {
      cursor.setAttribute("x1", x(t)); cursor.setAttribute("x2", x(t));
      let k = 1;
      while (k < times.length - 1 && times[k] < t) k++;
      const part = Math.max(0, Math.min((t - times[k - 1]) / (times[k] - times[k - 1] || 1), 1));
      curves.forEach(({ label, values }, n) => {
        const v = values[k - 1] + part * (values[k] - values[k - 1]);
        const text = `${curves.length > 1 ? label + " " : ""}${short(v)} ${channel.unit}`;
        if (said[n].textContent !== text) said[n].textContent = text;
      });
    });
    shown.get(name)(now());
  };

  // the panel
  const charts = make("div");
  const clock = make("span", { className: "lw-clock" });
  const boxes = data.overlays.map(({ word, on, colour, scale }) => {
    const box = make("input", { type: "checkbox", checked: on });
    box.onchange = () => { wanted.set(word, box.checked); asked.clear(); obey(); };
    const dot = colour ? [make("span", { className: "lw-key", style: `background:${colour}` })] : [];
    const long = scale ? [make("span", { className: "lw-scale", textContent: scale, title: "the longest arrow" })] : [];
    return make("label", {}, box, ...dot, make("span", {}, scale ? `${word} ` : word, ...long));
  });
  const views = data.views.map(({ name }) => {
    const button = make("button", { textContent: name });
    button.onclick = () => { turned = false; look(name); };
    return button;
  });
  const choice = make("select", { title: "draw a curve" }, make("option", { textContent: "add a curve …", value: "" }),
    ...data.channels.map(({ name }) => make("option", { textContent: name, value: name })));
  choice.onchange = () => { plot(choice.value); choice.value = ""; };
  const side = make("aside", { id: "lw-side" },
    make("header", {}, make("b", { textContent: data.name }), clock),
    make("div", { className: "lw-views" }, ...views),
    make("div", { className: "lw-head", textContent: "Show" }), make("div", { className: "lw-boxes" }, ...boxes));
  if (data.channels.length) side.append(make("div", { className: "lw-head", textContent: "Curves" }), choice, charts);
  const fold = make("button", { id: "lw-fold", title: "show or hide the panel", textContent: "☰" });
  fold.onclick = () => document.body.classList.toggle("lw-folded");
  if (innerWidth < 720) document.body.classList.add("lw-folded");
  const moon = make("button", { id: "lw-dark", title: "dark or light", textContent: "◐" });
  moon.onclick = () => { dark = !dark; told = -1e9; shade(); };
  side.querySelector("header").append(moon);
  document.body.append(side, fold);
  const sound = document.getElementById("lw-sound");
  if (sound) side.querySelector("header").after(sound);
  data.plot.forEach(plot);

  addEventListener("resize", () => { if (!turned) look(view); });
  let fitted = false, before = NaN;
  setInterval(() => {
    const canvas = document.querySelector("canvas");
    if (!canvas || !slider()) return;
    if (!fitted && (fitted = look(view)))
      for (const word of ["pointerdown", "wheel"]) canvas.addEventListener(word, () => { turned = true; });
    obey();
    shade();
    const t = now();
    if (t === before) return;
    before = t;
    clock.textContent = `${t.toFixed(3)} s`;
    for (const move of shown.values()) move(t);
  }, 33);
})();
