// What Linkwork adds to viser's page. Nothing here knows of mechanisms: clicks on what carries data-lw are reported
// to the server; the panel that holds .lw-bottom is kept along the bottom; triad and scale follow the camera.
(() => {
  const viser = () => window.__viserMutable;
  const tell = words =>
    viser()?.sendMessage?.({ type: "GuiUpdateMessage", uuid: "linkwork", updates: { do: words } });

  document.addEventListener("click", event => {
    const target = event.target.closest?.("[data-lw]");
    if (target) tell(JSON.parse(target.dataset.lw));
  });

  // Files that are dropped on a page that takes parts are uploaded one after the other, as if they were chosen.
  const taking = () => document.querySelector("input[type=file][id^=file_upload_]");
  document.addEventListener("dragover", event => taking() && event.preventDefault());
  document.addEventListener("drop", async event => {
    if (!taking() || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    for (const file of [...event.dataTransfer.files]) {
      const one = new DataTransfer(), input = taking();
      if (!input) return;
      one.items.add(file);
      input.files = one.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
      await new Promise(done => setTimeout(done, 300));
    }
  });

  // What can be plotted is dragged to the curves: rows of the tree, numbers of the inspector.
  let dragged = null;
  const curves = target => target.closest?.("[data-lw-place=bottom]");
  const mark = panel => {
    for (const each of document.querySelectorAll(".lw-dropping")) if (each !== panel) each.classList.remove("lw-dropping");
    panel?.classList.add("lw-dropping");
  };
  document.addEventListener("dragstart", event => {
    const source = event.target.closest?.("[data-lw-drag]");
    if (!source) return;
    dragged = JSON.parse(source.dataset.lwDrag);
    event.dataTransfer.setData("text/plain", dragged[1]);
    event.dataTransfer.effectAllowed = "copy";
  });
  document.addEventListener("dragover", event => {
    if (!dragged) return;
    const panel = curves(event.target);
    mark(panel);
    if (panel) event.preventDefault(), event.dataTransfer.dropEffect = "copy";
  });
  document.addEventListener("drop", event => {
    if (dragged && curves(event.target)) event.preventDefault(), tell(dragged);
    dragged = mark(null) ?? null;
  });
  document.addEventListener("dragend", () => { dragged = mark(null) ?? null; });

  // The panel at the bottom is as wide as the picture, and the picture ends where it begins. Its upper edge is pulled.
  let highest = 0.48;  // of the page
  document.addEventListener("pointerdown", event => {
    const panel = curves(event.target);
    if (!panel || !event.target.closest("[data-dock-griphandle], [data-dock-resize=top]") || event.target.closest("button")) return;
    event.stopPropagation(), event.preventDefault();
    const all = panel.parentElement.getBoundingClientRect();
    const pull = move => { highest = Math.min(0.8, Math.max(0.12, (all.bottom - move.clientY) / all.height)), place(); };
    const end = () => { removeEventListener("pointermove", pull), removeEventListener("pointerup", end); };
    addEventListener("pointermove", pull), addEventListener("pointerup", end);
  }, true);
  const place = () => {
    const root = document.querySelector(".lw-bottom")?.closest("[data-floating-window]");
    if (root) root.dataset.lwPlace = "bottom";
    const panel = document.querySelector("[data-lw-place=bottom]");
    const canvas = document.querySelector("canvas");
    if (!canvas) return;
    let frame = canvas.parentElement, whole = panel?.parentElement;
    while (whole && !whole.contains(canvas)) whole = whole.parentElement;
    if (whole) frame = [...whole.children].find(child => child.contains(canvas));
    if (!document.getElementById("lw-over")) {
      const over = document.createElement("div");
      over.id = "lw-over";
      over.innerHTML = '<svg width="64" height="64" viewBox="-32 -32 64 64"></svg><span id="lw-scale"></span>';
      frame.appendChild(over);
    }
    const set = (item, word, value) => {
      if (item.style.getPropertyValue(word) !== value) item.style.setProperty(word, value, "important");
    };
    if (!whole) return;
    const all = whole.getBoundingClientRect(), here = frame.getBoundingClientRect();
    const high = panel.offsetHeight;
    set(panel, "left", `${Math.round(here.left - all.left)}px`);
    set(panel, "width", `${Math.round(here.width)}px`);
    set(panel, "top", `${Math.round(all.height - high)}px`);
    set(panel, "max-height", `${Math.round(highest * all.height)}px`);
    set(frame, "bottom", `${Math.round(high)}px`);
  };
  setInterval(place, 120);

  // Where the time of the picture is in the curves, and their values there.
  let told = "";
  const follow = () => {
    requestAnimationFrame(follow);
    const known = Object.entries(window.__viserTestpoints?.uplots ?? {}), charts = known.map(([, each]) => each.chart);
    const { t: at, values = "{}" } = document.querySelector(".lw-now")?.dataset ?? {};
    if (at === undefined) return;
    const now = [at, values, ...charts.map(chart => [chart.over.clientWidth, chart.data[0].length, chart.scales.x.min, chart.scales.x.max,
      chart.over.matches(":hover")])].join();  // when the mouse leaves, values are those of the time again
    if (now === told) return;
    told = now;
    const said = JSON.parse(values);
    for (const [name, { chart }] of known) {
      let line = chart.over.querySelector(".lw-cursor");
      if (!line) (line = document.createElement("div")).className = "lw-cursor", chart.over.append(line);
      const x = chart.valToPos(+at, "x"), times = chart.data[0];
      line.style.display = 0 <= x && x <= chart.over.clientWidth ? "" : "none";
      line.style.transform = `translateX(${x}px)`;
      let k = 0;
      while (k < times.length - 1 && times[k + 1] <= +at) k++;
      if (chart.over.matches(":hover")) continue;
      chart.setLegend({ idx: k }, false);
      (said[name] ?? []).forEach((value, n) => {
        const cell = chart.root.querySelectorAll(".u-legend .u-series")[n + 1]?.querySelector(".u-value");
        if (cell) cell.textContent = value;
      });
    }
  };
  requestAnimationFrame(follow);

  // What arrows mean stands in the picture.
  const explain = () => {
    const source = document.querySelector(".lw-legend"), over = document.getElementById("lw-over");
    if (!over) return;
    let here = document.getElementById("lw-legend");
    if (!here) {
      here = document.createElement("div");
      here.id = "lw-legend";
      over.parentElement.append(here);
    }
    const text = source?.innerHTML ?? "";
    if (here.dataset.text !== text) here.innerHTML = here.dataset.text = text;
  };
  setInterval(explain, 150);

  // The tab is called as what is shown, also when that is another mechanism.
  setInterval(() => {
    const name = document.querySelector(".lw-tree")?.dataset.lwTitle;
    if (name && document.title !== `${name} · Linkwork`) document.title = `${name} · Linkwork`;
  }, 300);

  // Where what is selected can be changed comes into sight.
  let chosen = "";
  const attend = () => {
    const now = document.querySelector(".lw-row.chosen")?.ariaLabel ?? "", place = document.querySelector(".lw-selected");
    if (now === chosen || (now && !place)) return;
    chosen = now;
    place?.scrollIntoView({ block: "nearest" });
  };
  setInterval(attend, 150);

  // Handles inside a part could not be taken: what they are pointed at with comes first.
  const store = () => {
    for (const node of Object.values(viser()?.nodeRefFromName ?? {}))
      if (node?.__r3f?.root?.getState) return node.__r3f.root.getState();
  };
  const prefer = () => {
    const state = store();
    if (!state?.setEvents || state.events?.filter?.ours) return;
    const filter = hits => {
      const gizmo = viser()?.nodeRefFromName?.["/gizmo"];
      const held = hit => { let node = hit.object; while (node && node !== gizmo) node = node.parent; return !!node; };
      const first = gizmo ? hits.filter(held) : [];
      return first.length ? [...first, ...hits.filter(hit => !first.includes(hit))] : hits;
    };
    filter.ours = true;
    state.setEvents({ filter });
  };
  setInterval(prefer, 500);

  // Colours are shown as they are: a film's tone mapping would wash them out, and so would lights and surroundings of
  // viser's own, which a page that plays from disk puts up again whenever it goes back to its start.
  const THEIRS = [1, 0.4];  // how bright lights of viser's are: of ours none is
  const plain = setInterval(() => {
    const { gl, scene } = store() ?? {};
    if (!gl) return;
    gl.toneMapping = 0;
    scene.onBeforeRender = () => {
      scene.environment = null;
      scene.traverse(item => { if (item.isDirectionalLight && THEIRS.includes(item.intensity)) item.visible = false; });
    };
    clearInterval(plain);
  }, 50);

  // triad and scale
  const COLOURS = { x: "#d6336c", y: "#37b24d", z: "#1c7ed6" };
  let before = "";
  const look = () => {
    requestAnimationFrame(look);
    const { camera, cameraControl, nodeRefFromName } = viser() ?? {};
    const svg = document.querySelector("#lw-over svg");
    if (!camera || !cameraControl || !svg) return;
    const root = nodeRefFromName["/bodies"] ?? nodeRefFromName[""];
    if (!root) return;
    const canvas = document.querySelector("canvas");
    const target = cameraControl.getTarget(camera.position.clone());
    const away = camera.position.distanceTo(target);
    const now = [...camera.quaternion.toArray(), away, camera.fov, canvas.clientHeight].map(x => x.toFixed(4)).join();
    if (now === before) return;
    before = now;
    const turn = camera.quaternion.clone().invert().multiply(root.getWorldQuaternion(camera.quaternion.clone()));
    const ends = Object.keys(COLOURS).map((word, k) => {
      const axis = camera.position.clone().set(+(k === 0), +(k === 1), +(k === 2)).applyQuaternion(turn);
      return { word, x: 22 * axis.x, y: -22 * axis.y, z: axis.z };
    }).sort((a, b) => a.z - b.z);
    svg.innerHTML = ends.map(({ word, x, y }) =>
      `<line x1="0" y1="0" x2="${x}" y2="${y}" stroke="${COLOURS[word]}" stroke-width="2.4" stroke-linecap="round"/>` +
      `<text x="${1.28 * x}" y="${1.28 * y + 3.5}" text-anchor="middle" font-size="11" fill="${COLOURS[word]}">${word}</text>`
    ).join("");
    const pixels = canvas.clientHeight / (2 * away * Math.tan(camera.fov * Math.PI / 360));  // per metre
    const power = 10 ** Math.floor(Math.log10(110 / pixels));
    const length = [5, 2, 1].map(f => f * power).find(l => l * pixels <= 110) ?? power;
    const scale = document.getElementById("lw-scale");
    scale.style.width = `${Math.round(length * pixels)}px`;
    scale.textContent = length >= 1000 ? `${+(length / 1000).toPrecision(1)} km` : length >= 1 ? `${+length.toPrecision(1)} m`
      : length >= 0.01 ? `${+(100 * length).toPrecision(1)} cm` : length >= 0.001 ? `${+(1000 * length).toPrecision(1)} mm`
      : `${+(1e6 * length).toPrecision(1)} µm`;
  };
  requestAnimationFrame(look);
})();
