// The report is complete without this script. With it: theme button, legend that hides a model, explanations on hover,
// focus and touch, tables that are sorted, filtered and copied. Its words come from the page: data-words of <body>.
(function () {
  "use strict";
  var root = document.documentElement;
  var words = JSON.parse(document.body.dataset.words || "{}");

  function made(tag, className, text) {
    var element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    if (tag === "button") element.type = "button";
    return element;
  }
  function said(word, values) {
    return (words[word] || word).replace(/\{(\w+)\}/g, function (_, name) { return values[name]; });
  }

  // --- Theme: the system's choice until the button is used; remembered where the browser allows it.
  function remembered(value) {
    try {
      if (value === undefined) return window.localStorage.getItem("evalreport-theme");
      window.localStorage.setItem("evalreport-theme", value);
    } catch (error) { /* a page from a file may have no storage */ }
    return null;
  }
  var button = document.getElementById("theme");
  var system = window.matchMedia("(prefers-color-scheme: dark)");
  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  }
  function named() { button.textContent = said(isDark() ? "light" : "dark"); }
  if (button) {
    var before = remembered();
    if (before === "dark" || before === "light") root.dataset.theme = before;
    button.hidden = false;
    named();
    button.addEventListener("click", function () {
      root.dataset.theme = isDark() ? "light" : "dark";
      remembered(root.dataset.theme);
      named();
    });
    system.addEventListener("change", named);
  }

  // --- Legend: one class on the root hides a model's rows, columns and curves everywhere.
  var legend = document.getElementById("legend");
  if (legend) {
    var all = made("button", "toggle all", said("all"));
    all.hidden = true;
    legend.appendChild(all);
    legend.hidden = false;
    legend.addEventListener("click", function (event) {
      var toggle = event.target.closest("button");
      if (!toggle) return;
      var toggles = Array.from(legend.querySelectorAll("[data-model]"));
      var visible = toggles.filter(function (one) { return one.getAttribute("aria-pressed") === "true"; });
      if (visible.length === 1 && visible[0] === toggle) return;  // one model stays
      (toggle === all ? toggles : [toggle]).forEach(function (one) {
        var hidden = root.classList.toggle("hide-" + one.dataset.model, toggle === all ? false : undefined);
        one.setAttribute("aria-pressed", String(!hidden));
      });
      if (toggle === all) toggles[0].focus();
      all.hidden = toggles.every(function (one) { return one.getAttribute("aria-pressed") === "true"; });
    });
  }

  // --- Where the reader is: the link of the section at the top of the window, and folded parts that a link leads to.
  var links = Array.from(document.querySelectorAll(".toolbar nav a"));
  var inView = new Set();
  if (links.length && window.IntersectionObserver) {
    var watch = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) { inView[entry.isIntersecting ? "add" : "delete"](entry.target.id); });
      var current = links.find(function (link) { return inView.has(link.hash.slice(1)); });
      links.forEach(function (link) { link.toggleAttribute("aria-current", link === current); });
      if (current) {
        var bar = current.closest("nav");
        bar.scrollLeft = current.offsetLeft - bar.offsetLeft - bar.clientWidth / 3;
      }
    }, { rootMargin: "-15% 0px -60% 0px" });
    links.forEach(function (link) {
      var section = document.getElementById(link.hash.slice(1));
      if (section) watch.observe(section);
    });
  }
  // What a link leads to stands below the bar, however high that is.
  var toolbar = document.querySelector(".toolbar");
  function measure() {
    var sticks = getComputedStyle(toolbar).position === "sticky";
    root.style.scrollPaddingTop = (sticks ? toolbar.offsetHeight + 16 : 8) + "px";
  }
  if (toolbar) {
    measure();
    window.addEventListener("resize", measure);
  }
  function unfold() {
    var target = document.getElementById(window.location.hash.slice(1));
    if (!target) return;
    if (target.firstElementChild && target.firstElementChild.matches("details")) target.firstElementChild.open = true;
    for (var part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", unfold);
  if (window.location.hash) unfold();

  // --- On paper nothing is folded, except what is too long for it.
  var folded = [];
  window.addEventListener("beforeprint", function () {
    folded = Array.from(document.querySelectorAll("details:not([open]):not(.long)"));
    folded.forEach(function (part) { part.open = true; });
  });
  window.addEventListener("afterprint", function () {
    folded.forEach(function (part) { part.open = false; });
    folded = [];
  });

  // --- Explanations: one box for all, beside what it explains; Escape or a click elsewhere closes it.
  root.classList.add("scripted");
  var box = made("div", "tip-box");
  box.id = "tip";
  box.setAttribute("role", "tooltip");
  box.hidden = true;
  document.body.appendChild(box);
  var explained = null, leaving = 0;
  function explain(element) {
    clearTimeout(leaving);
    if (element === explained) return;
    conceal();
    explained = element;
    box.textContent = element.dataset.tip;
    box.hidden = false;
    element.setAttribute("aria-describedby", "tip");
    place();
  }
  function place() {
    var from = explained.getBoundingClientRect(), width = box.offsetWidth, height = box.offsetHeight;
    var left = Math.min(Math.max(from.left, 8), root.clientWidth - width - 8);
    var top = from.top - height - 6;
    box.style.left = Math.max(left, 8) + "px";
    box.style.top = (top < 8 ? from.bottom + 6 : top) + "px";
  }
  function conceal() {
    clearTimeout(leaving);
    if (explained) explained.removeAttribute("aria-describedby");
    explained = null;
    box.hidden = true;
  }
  function concealSoon() { leaving = setTimeout(conceal, 150); }
  function over(event) { return event.target.closest && event.target.closest("[data-tip]"); }
  document.addEventListener("mouseover", function (event) {
    if (event.target === box) clearTimeout(leaving);
    else if (over(event)) explain(over(event));
    else if (explained && document.activeElement !== explained) concealSoon();
  });
  document.addEventListener("focusin", function (event) {
    if (over(event) && event.target === over(event)) explain(event.target); else conceal();
  });
  document.addEventListener("click", function (event) {
    if (over(event)) explain(over(event)); else if (event.target !== box) conceal();
  });
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") conceal(); });
  // Focus on what is out of sight scrolls to it: the box goes along, as long as there is something beside it.
  document.addEventListener("scroll", function () {
    if (!explained) return;
    var from = explained.getBoundingClientRect();
    if (from.bottom < 0 || from.top > root.clientHeight || !from.width) conceal(); else place();
  }, { capture: true, passive: true });

  // --- A character that no font here draws shows as the same box as a noncharacter: runs of these are numbered boxes.
  var canvas = document.createElement("canvas");
  canvas.width = canvas.height = 24;
  var context = canvas.getContext("2d", { willReadFrequently: true });
  function drawing(character) {
    context.clearRect(0, 0, 24, 24);
    context.font = "16px Inter, system-ui, sans-serif";
    context.fillText(character, 2, 18);
    return context.getImageData(0, 0, 24, 24).data.join();
  }
  function undrawn(character) {
    if (!known.has(character)) known.set(character, drawing(character) === missing);
    return known.get(character);
  }
  function boxed(run) {
    if (run && !runs.includes(run)) runs.push(run);
    return run && "\u25A1" + (runs.indexOf(run) + 1);
  }
  function spelled(text) {
    var shown = "", run = "";
    Array.from(text).forEach(function (character) {
      if (/[\u200D\uFE0E\uFE0F]/.test(character) ? run : undrawn(character)) { run += character; return; }
      shown += boxed(run) + character;
      run = "";
    });
    return shown + boxed(run);
  }
  // What a copy of a table holds: the characters themselves.
  function written(text) {
    return text.replace(/\u25A1(\d+)/g, function (box, number) { return runs[number - 1] || box; });
  }
  var known = new Map(), runs = [];
  var missing = context && drawing("\u{10FFFF}");
  var rare = /(?:[^\0-\u03FF\u1E00-\u1EFF\u2000-\u2BFF\p{M}][\u200D\uFE0E\uFE0F]*)+/gu;
  var walker = context && document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker && walker.nextNode()) {
    if (walker.currentNode.parentNode !== null && rare.test(walker.currentNode.data)) {
      walker.currentNode.data = walker.currentNode.data.replace(rare, spelled);
    }
    rare.lastIndex = 0;
  }

  // --- Tables: what a cell says, aside from marks that stand for a colour, and a figure that a reader sees only.
  function textOf(node, inside) {
    if (node.nodeType === Node.TEXT_NODE) return written(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    if (node.nodeName === "BR") return " ";
    if (node.nodeName === "svg" || node.getAttribute("aria-hidden") === "true") return "";
    if (!inside && (node.nodeName === "SMALL" || node.classList.contains("dagger"))) return "";
    return Array.from(node.childNodes, function (child) { return textOf(child, inside); }).join("");
  }
  function tidy(text) { return text.replace(/\s+/g, " ").trim(); }
  function shown(element) { return element.getClientRects().length > 0; }
  function bodyRows(table) {
    return Array.from(table.tBodies).flatMap(function (body) { return Array.from(body.rows); });
  }
  function isData(row) { return !row.matches(".group"); }

  // --- Sorting: the heading of a column becomes a button; parts of a table are sorted each by itself.
  var collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  function order(row, column) {
    var cell = row.cells[column];
    if (!cell) return "";
    if (cell.dataset.order !== undefined) return Number(cell.dataset.order);
    var text = tidy(textOf(cell, false));
    if (cell.nodeName === "TH") return text;
    var number = text.replace(/−/g, "-").replace(/(\d),(?=\d{3})/g, "$1").match(/^[[<>+(]*(-?(?:\d+\.?\d*(?:e[-+]?\d+)?|∞))/i);
    return number ? Number(number[1].replace("∞", "Infinity")) : text;
  }
  function compared(a, b) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return typeof a === "number" ? a - b : collator.compare(a, b);
  }
  function sort(table, heading, column) {
    // Best first: the greatest number, or the least where the heading says that less is better; texts from a to z.
    var before = heading.getAttribute("aria-sort");
    var numeric = bodyRows(table).filter(isData).some(function (row) { return typeof order(row, column) === "number"; });
    var descending = before ? before === "ascending" : numeric && !heading.textContent.includes("↓");
    table.querySelectorAll("th[aria-sort]").forEach(function (th) { th.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    Array.from(table.tBodies).forEach(function (body) {
      var rows = Array.from(body.rows).filter(isData);
      rows.sort(function (a, b) {
        var x = order(a, column), y = order(b, column);
        // A dash says that there is nothing: it stands last either way.
        if (x === "–" || y === "–") return (x === "–") - (y === "–");
        return descending ? -compared(x, y) : compared(x, y);
      });
      rows.forEach(function (row) { body.appendChild(row); });
    });
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (heading, column) {
      if (heading.classList.contains("plain")) return;
      var control = made("button", "sort", tidy(heading.textContent));
      if (heading.dataset.tip) {
        control.dataset.tip = heading.dataset.tip;
        heading.removeAttribute("data-tip");
      }
      heading.removeAttribute("tabindex");
      heading.textContent = "";
      heading.appendChild(control);
      heading.classList.add("sorts");
      heading.addEventListener("click", function () { sort(table, heading, column); });
    });
  });

  // --- Filtering: every word must occur in the row, or in the heading of its part.
  function filter(table, text, report) {
    var terms = text.toLowerCase().split(/\s+/).filter(Boolean);
    var n = 0, total = 0;
    Array.from(table.tBodies).forEach(function (body) {
      var group = body.querySelector(".group");
      var about = group ? textOf(group, true).toLowerCase() + " " : "";
      var kept = 0;
      Array.from(body.rows).filter(isData).forEach(function (row) {
        var content = about + textOf(row, true).toLowerCase();
        var keep = terms.every(function (term) { return content.includes(term); });
        row.classList.toggle("filtered", !keep);
        kept += keep;
        total += 1;
      });
      n += kept;
      Array.from(body.rows).forEach(function (row) { if (!isData(row)) row.classList.toggle("filtered", !kept); });
    });
    report.textContent = terms.length ? said("rows", { n: n, total: total }) : "";
  }
  function filterBox(table) {
    var label = made("label", "filter", said("filter") + " ");
    var input = made("input");
    var report = made("span", "found");
    input.type = "search";
    input.autocomplete = "off";
    report.setAttribute("role", "status");
    input.addEventListener("input", function () { filter(table, input.value, report); });
    label.appendChild(input);
    var together = made("span", "filtering");
    together.append(label, report);
    return together;
  }

  // --- Copying: what is shown of a table, in rows of texts. A column with a smaller text beside becomes two.
  function grid(table) {
    var heads = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);  // below those of groups of columns
    var columns = heads.map(function (_, i) { return i; }).filter(function (i) {
      return shown(heads[i]) && !heads[i].classList.contains("plain");
    });
    var rows = bodyRows(table).filter(function (row) { return shown(row) && isData(row) && row.cells.length === heads.length; });
    var halves = columns.map(function (i) {
      return rows.some(function (row) { return row.cells[i].querySelector("small"); });
    });
    var grouped = table.dataset.group;
    function line(cells, isHead) {
      var texts = [];
      columns.forEach(function (i, k) {
        var cell = cells[i], main = tidy(textOf(cell, !halves[k]));
        texts.push(main);
        if (!halves[k]) return;
        var beside = Array.from(cell.querySelectorAll("small"), function (small) { return textOf(small, true); });
        texts.push(isHead ? main + ", " + (cell.dataset.beside || said("beside")) : tidy(beside.join(" ")));
      });
      return texts;
    }
    var lines = [(grouped ? [grouped] : []).concat(line(heads, true))];
    rows.forEach(function (row) {
      var group = row.parentElement.querySelector(".group .what");
      lines.push((grouped ? [group ? tidy(group.textContent) : ""] : []).concat(line(row.cells, false)));
    });
    return lines;
  }
  function asMarkdown(lines) {
    var entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
    function cell(text) {
      return text.replace(/[&<>]/g, function (c) { return entities[c]; }).replace(/[\\|*_@[\]`~$#]/g, "\\$&");
    }
    function row(texts) { return "| " + texts.map(cell).join(" | ") + " |\n"; }
    return row(lines[0]) + "|" + lines[0].map(function () { return "---|"; }).join("") + "\n" + lines.slice(1).map(row).join("");
  }
  // In a file of numbers the two limits of an interval are two columns.
  var LIMITS = /^[[(]([^,\]]+(?:,\d{3})*(?:\.\d+)?), ([^\])]+)[\])]$/;
  function withLimits(lines) {
    var halves = lines[0].map(function (_, i) {
      var filled = lines.slice(1).map(function (line) { return line[i]; }).filter(Boolean);
      return filled.length > 0 && filled.every(function (text) { return LIMITS.test(text); });
    });
    return lines.map(function (line, k) {
      return line.flatMap(function (text, i) {
        if (!halves[i]) return [text];
        var main = text.replace(", " + said("beside"), "");
        if (k === 0) return [main + ", " + said("low"), main + ", " + said("high")];
        var found = text.match(LIMITS);
        return found ? [found[1], found[2]] : ["", ""];
      });
    });
  }
  function asCsv(table) {
    var lines = withLimits(table);
    function cell(text) {
      var plain = text.replace(/−/g, "-").replace(/^([-+]?\d{1,3})((?:,\d{3})+)(?=$|\.)/, function (_, head, tail) {
        return head + tail.replace(/,/g, "");
      });
      // A number is a number; what a spreadsheet would read as a formula gets an apostrophe before it.
      if (/^[-+]?\d+(\.\d+)?$/.test(plain)) return plain;
      if (/^[\s\p{Cc}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20−]/u.test(text)) text = "'" + text;
      return '"' + text.replace(/"/g, '""') + '"';
    }
    return lines.map(function (texts) { return texts.map(cell).join(",") + "\r\n"; }).join("");
  }
  // Models by models as a row a pair: the first less the second.
  function pairsOf(table) {
    var heads = Array.from(table.tHead.rows[0].cells), lines = [["a", "b", "difference", "low", "high", "p", "verdict"]];
    bodyRows(table).forEach(function (row) {
      Array.from(row.cells).forEach(function (cell, i) {
        if (!i || !cell.textContent.trim()) return;
        var small = Array.from(cell.querySelectorAll("small"), function (one) { return tidy(textOf(one, true)); });
        var limits = (small[0] || "").match(LIMITS), said = small[small.length - 1] || "", cut = said.lastIndexOf(", ");
        var names = [textOf(row.cells[0], true), textOf(heads[i], true)].map(tidy);
        if (table.classList.contains("turned")) names.reverse();
        var numbers = [tidy(textOf(cell, false)), limits ? limits[1] : "", limits ? limits[2] : ""];
        lines.push(names.concat(
          numbers.map(function (text) { return text.replace(/^\+/, ""); }),
          [said.slice(cut + 2).replace(/^\S+ (?:= )?/, "").replace(/\s/g, ""), said.slice(0, Math.max(cut, 0))]
        ));
      });
    });
    return lines;
  }
  // For a paper: booktabs' rules, every sign of LaTeX's own escaped.
  function asLatex(lines) {
    var signs = {
      "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "#": "\\#", "$": "\\$", "%": "\\%", "&": "\\&", "_": "\\_",
      "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}",
      "−": "$-$", "–": "--", "±": "$\\pm$", "×": "$\\times$", "Δ": "$\\Delta$", "↓": "$\\downarrow$", "↑": "$\\uparrow$",
      "’": "'", "…": "\\dots{}", "≤": "$\\le$", "≥": "$\\ge$"
    };
    function cell(text) {
      var safe = text.replace(/[\\{}#$%&_^~<>|−–±×Δ↓↑’…≤≥]/g, function (c) { return signs[c]; });
      // At the beginning of a row a bracket would be an argument of the row before it.
      return /^[[*]/.test(safe) ? "{}" + safe : safe;
    }
    function row(texts) { return texts.map(cell).join(" & ") + " \\\\\n"; }
    return "% " + said("booktabs") + "\n\\begin{tabular}{l" + "r".repeat(Math.max(lines[0].length - 1, 0)) + "}\n\\toprule\n" +
      row(lines[0]) + "\\midrule\n" + lines.slice(1).map(row).join("") + "\\bottomrule\n\\end{tabular}\n";
  }
  var dialog = null;
  var live = made("div", "unseen");
  live.setAttribute("role", "status");
  document.body.appendChild(live);
  function showToCopy(text) {
    if (!dialog) {
      dialog = made("dialog", "copying");
      dialog.setAttribute("aria-label", said("by_hand"));
      var close = made("button", "button", said("close"));
      close.addEventListener("click", function () { dialog.close(); });
      var area = made("textarea");
      area.readOnly = true;
      area.setAttribute("aria-label", said("by_hand"));
      dialog.append(made("p", "note", said("by_hand")), area, close);
      document.body.appendChild(dialog);
    }
    dialog.querySelector("textarea").value = text;
    dialog.showModal();
    dialog.querySelector("textarea").select();
  }
  function copy(control, text) {
    function done() {
      var label = control.textContent;
      if (control.dataset.done) return;
      live.textContent = said("copied");
      control.dataset.done = "yes";
      control.textContent = said("copied");
      setTimeout(function () { control.textContent = label; live.textContent = ""; delete control.dataset.done; }, 1500);
    }
    // Without permission, or where there is no clipboard: the text in a box, selected.
    if (!navigator.clipboard) { showToCopy(text); return; }
    navigator.clipboard.writeText(text).then(done, function () { showToCopy(text); });
  }
  function tools(region, table) {
    var bar = made("div", "tools");
    if (bodyRows(table).filter(isData).length > 15 && !table.matches(".confusion-table")) {
      bar.appendChild(filterBox(table));
      bar.classList.add("wide");
    }
    var copies = made("span", "copies");
    copies.append(said("copy") + " ");
    [["Markdown", asMarkdown], ["CSV", asCsv], ["LaTeX", asLatex]].forEach(function (way) {
      var control = made("button", "copy", way[0]);
      control.setAttribute("aria-label", said("copy_as", { format: way[0], table: region.getAttribute("aria-label") || "" }));
      control.addEventListener("click", function () {
        var asPairs = way[0] === "CSV" && table.matches(".triangle");
        copy(control, way[1](asPairs ? pairsOf(table) : grid(table)));
      });
      copies.append(control, " ");
    });
    if (region.id) {
      var link = made("a", "anchor", "");
      link.href = "#" + region.id;
      link.setAttribute("aria-label", said("link_table"));
      copies.appendChild(link);
    }
    bar.appendChild(copies);
    region.before(bar);
  }
  document.querySelectorAll(".scroll > table").forEach(function (table) {
    if (table.tHead) tools(table.parentElement, table);
  });
})();
