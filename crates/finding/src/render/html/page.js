"use strict";
// What moves on the page: see `mod.rs`. Elements are made by name and get text; nothing is parsed.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const sources = JSON.parse(one("#sources").textContent);
  const articles = all("article");
  const items = all(".list li");

  // Light or dark: as the system says, or as the reader chose.

  const kept = {
    get: () => {
      try {
        return localStorage.getItem("raddle-theme");
      } catch {
        return null;
      }
    },
    set: (theme) => {
      try {
        localStorage.setItem("raddle-theme", theme);
      } catch {
        // A page without storage forgets the choice.
      }
    },
  };
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const showTheme = () => {
    document.documentElement.dataset.theme = kept.get() ?? (prefersDark.matches ? "dark" : "light");
  };
  const switchTheme = () => {
    kept.set(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    showTheme();
  };
  prefersDark.addEventListener("change", showTheme);
  showTheme();

  // One picture: its rows, the slider, and the source of every thread.

  class Player {
    constructor(section) {
      this.section = section;
      this.lanes = one(".lanes", section);
      this.slider = one(".controls input[type=range]", section);
      this.whole = one(".controls input[type=checkbox]", section);
      this.labels = all("thead th.lane", section).map((lane) => lane.textContent);
      this.steps = all("tr.step", section);
      this.panes = this.makePanes();
      one(".controls", section).hidden = false;
      this.listen();
      this.at = this.steps.findLast((step) => step.classList.contains("key")) ?? this.steps.at(-1);
      this.show(false);
    }

    listen() {
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value) - 1));
      this.whole?.addEventListener("change", () => this.showWhole(this.whole.checked));
      for (const button of all("[data-go]", this.section)) {
        button.addEventListener("click", () => this.move(button.dataset.go));
      }
      this.lanes.addEventListener("click", (event) => {
        const step = event.target.closest("tr.step");
        if (step && !event.target.closest("a")) this.go(this.visible().indexOf(step));
      });
      this.lanes.addEventListener("keydown", (event) => {
        const moves = { ArrowDown: "on", ArrowUp: "back", Home: "first", End: "last" };
        const move = moves[event.key];
        if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.move(move);
      });
    }

    visible() {
      const whole = this.lanes.classList.contains("whole");
      return whole ? this.steps : this.steps.filter((step) => !step.classList.contains("minor"));
    }

    showWhole(whole) {
      this.lanes.classList.toggle("whole", whole);
      if (this.whole) this.whole.checked = whole;
      if (!this.visible().includes(this.at)) {
        const index = this.steps.indexOf(this.at);
        this.at = this.visible().findLast((step) => this.steps.indexOf(step) <= index) ?? this.visible()[0];
      }
      this.show(true);
    }

    move(where) {
      const visible = this.visible();
      const here = visible.indexOf(this.at);
      const to = { first: 0, back: here - 1, on: here + 1, last: visible.length - 1 }[where];
      this.go(Math.max(0, Math.min(visible.length - 1, to)));
    }

    go(index) {
      this.at = this.visible()[index];
      this.show(true);
    }

    show(follow) {
      const visible = this.visible();
      const index = visible.indexOf(this.at);
      for (const step of this.steps) step.removeAttribute("aria-current");
      this.at.setAttribute("aria-current", "step");
      this.slider.max = visible.length;
      this.slider.value = index + 1;
      const what = one(".what", this.at).textContent;
      const told = `${this.labels[this.at.dataset.lane]} ${what}`;
      this.slider.setAttribute("aria-valuetext", `${index + 1} of ${visible.length}: ${told}`);
      one("output", this.section).textContent = `${index + 1} of ${visible.length}`;
      if (follow) {
        one(".said", this.section).textContent = told;
        this.at.scrollIntoView({ block: "nearest", inline: "nearest" });
      }
      this.showLane();
      this.showSource();
    }

    /** On a narrow screen the lanes scroll sideways, and a row is as wide as all of them. */
    showLane() {
      const lane = one(".here", this.at).getBoundingClientRect();
      const view = this.lanes.getBoundingClientRect();
      const right = Math.max(0, lane.right - view.right);
      this.lanes.scrollLeft += lane.left - right < view.left ? lane.left - view.left : right;
    }

    makePanes() {
      const panes = one(".panes", this.section);
      const known = this.steps.filter((step) => this.lines(step));
      if (known.length === 0) return [];
      const lanes = [...new Set(known.map((step) => step.dataset.lane))].sort((a, b) => a - b);
      const made = lanes.map((lane) => {
        const pane = make("section", "pane");
        const heading = make("h4");
        heading.append(make("span", "", this.labels[lane]), make("span"));
        const code = make("pre", "code");
        code.tabIndex = 0;
        pane.append(heading, code);
        pane.setAttribute("aria-label", `Source of ${this.labels[lane]}`);
        panes.append(pane);
        return { lane, pane, place: heading.lastChild, code };
      });
      panes.hidden = false;
      one(".stage", this.section).classList.toggle("pair", lanes.length < 4);
      return made;
    }

    /** The lines of the file of a step, if the page has its line. */
    lines(step) {
      const lines = sources[step.dataset.file]?.lines;
      return lines?.[step.dataset.line] && lines;
    }

    showSource() {
      const end = this.steps.indexOf(this.at);
      for (const { lane, pane, place, code } of this.panes) {
        const known = (step) => step.dataset.lane === lane && this.lines(step);
        // The reader's own code, unless the step that was chosen is in a library.
        const own = (step) => known(step) && (step === this.at || !("library" in step.dataset));
        const before = this.steps.slice(0, end + 1);
        const step =
          before.findLast(own) ?? this.steps.find(own) ?? before.findLast(known) ?? this.steps.find(known);
        pane.classList.toggle("active", this.at.dataset.lane === lane);
        const { file, line } = step.dataset;
        const shown = `${file}:${line}`;
        if (code.dataset.shown === shown) continue;
        code.dataset.shown = shown;
        place.textContent = `${sources[file].name}:${line}`;
        place.title = place.textContent;
        writeLines(code, sources[file].lines, Number(line));
      }
    }
  }

  /** The lines around `now`, as far as the page has them without a gap. */
  const writeLines = (code, lines, now) => {
    let first = now;
    let last = now;
    while (lines[first - 1] && now - first < 40) first -= 1;
    while (lines[last + 1] && last - now < 40) last += 1;
    code.replaceChildren();
    for (let number = first; number <= last; number += 1) {
      const line = make("span", number === now ? "line now" : "line");
      line.append(make("b", "", number));
      const tokens = lines[number];
      for (let i = 0; i < tokens.length; i += 2) {
        line.append(tokens[i] ? make("i", tokens[i], tokens[i + 1]) : tokens[i + 1]);
      }
      line.append("\n");
      code.append(line);
    }
    const at = one(".now", code);
    code.scrollTop = at.offsetTop - code.offsetTop - code.clientHeight / 2 + at.offsetHeight;
  };

  // One finding at a time.

  const players = new Map();
  let current = null;
  const show = (article, focus) => {
    current = article;
    for (const other of articles) other.hidden = other !== article;
    items.forEach((item, i) => {
      const link = one("a", item);
      if (articles[i] === article) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    if (!article) return;
    one("[aria-current]", one(".list"))?.scrollIntoView({ block: "nearest" });
    const section = one(".player", article);
    if (section && !players.has(article)) players.set(article, new Player(section));
    if (focus) {
      scrollTo({ top: one(".list").offsetHeight < innerHeight / 2 ? article.offsetTop - 60 : 0 });
      article.focus({ preventScroll: true });
    }
  };
  const linked = () => {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      // Not one of this page's links.
    }
    return articles.find((article) => article.id === id);
  };
  addEventListener("hashchange", () => {
    const article = linked();
    if (article) show(article, true);
  });

  // Search and filters.

  const form = one(".filters");
  const matches = (item, i, words) => {
    for (const select of all("select", form)) {
      if (select.value && item.dataset[select.name] !== select.value) return false;
    }
    if (words.length === 0) return true;
    articles[i].words ??= `${item.textContent} ${articles[i].textContent}`.toLowerCase();
    return words.every((word) => articles[i].words.includes(word));
  };
  const narrow = () => {
    const words = one("input", form).value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    items.forEach((item, i) => {
      item.hidden = !matches(item, i, words);
      shown += item.hidden ? 0 : 1;
    });
    one(".count").textContent = shown === items.length ? "" : `${shown} of ${items.length}`;
    one(".none").hidden = shown > 0;
    const first = items.findIndex((item) => !item.hidden);
    if (first >= 0 && items[articles.indexOf(current)]?.hidden) show(articles[first], false);
  };
  const next = (by) => {
    let i = articles.indexOf(current) + by;
    while (items[i]?.hidden) i += by;
    if (items[i]) one("a", items[i]).click();
  };

  if (form) {
    form.hidden = items.length < 2;
    form.addEventListener("input", narrow);
    form.addEventListener("submit", (event) => event.preventDefault());
    show(linked() ?? articles[0], false);
  }

  // Buttons and keys.

  const help = one(".help");
  one(".buttons").hidden = false;
  one("[data-do=theme]").addEventListener("click", switchTheme);
  one("[data-do=help]").addEventListener("click", () => help.showModal());
  for (const button of all(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const line = one("code", button.parentElement);
      try {
        await navigator.clipboard.writeText(line.textContent);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(line);
        button.textContent = "selected";
      }
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
  }
  const keys = {
    ArrowLeft: () => players.get(current)?.move("back"),
    ArrowRight: () => players.get(current)?.move("on"),
    a: () => {
      const player = players.get(current);
      if (player?.whole) player.showWhole(!player.whole.checked);
    },
    j: () => next(1),
    k: () => next(-1),
    t: switchTheme,
    "/": () => one(".filters input")?.focus(),
    "?": () => help.showModal(),
  };
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox]), select, dialog[open]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (!act) return;
    // A line of source that is too long scrolls sideways.
    if (event.key.startsWith("Arrow") && event.target.closest?.("pre")) return;
    event.preventDefault();
    act();
  });
})();
