// The report is complete without this script; with it: theme button, legend that hides a model, sortable tables.
(function () {
  "use strict";
  var root = document.documentElement;

  // Theme: the system's choice until the button is used; remembered where the browser allows it.
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
  function named() { button.textContent = isDark() ? "Light theme" : "Dark theme"; }
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

  // Legend: one class on the root hides a model's rows, columns and curves everywhere.
  var legend = document.getElementById("legend");
  if (legend) {
    legend.hidden = false;
    legend.addEventListener("click", function (event) {
      var toggle = event.target.closest("button[data-model]");
      if (!toggle) return;
      var hidden = root.classList.toggle("hide-" + toggle.dataset.model);
      toggle.setAttribute("aria-pressed", String(!hidden));
    });
  }

  // A character that no font here draws shows as the same box as a noncharacter: write its code point instead.
  var canvas = document.createElement("canvas");
  canvas.width = canvas.height = 24;
  var context = canvas.getContext("2d", { willReadFrequently: true });
  function drawing(character) {
    context.clearRect(0, 0, 24, 24);
    context.font = "16px Inter, system-ui, sans-serif";
    context.fillText(character, 2, 18);
    return context.getImageData(0, 0, 24, 24).data.join();
  }
  function spelled(character) {
    if (!(character in known)) {
      var code = character.codePointAt(0).toString(16).toUpperCase();
      known[character] = drawing(character) === missing ? "U+" + code.padStart(4, "0") : character;
    }
    return known[character];
  }
  var known = {};
  var missing = context && drawing("\u{10FFFF}");
  var rare = /[^\0-\u03FF\u1E00-\u1EFF\u2000-\u2BFF\p{M}]/gu;
  var walker = context && document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker && walker.nextNode()) {
    if (walker.currentNode.parentNode !== null && rare.test(walker.currentNode.data)) {
      walker.currentNode.data = walker.currentNode.data.replace(rare, spelled);
    }
    rare.lastIndex = 0;
  }

  // Tables: the heading of a column becomes a button.
  function order(row, column) {
    var cell = row.cells[column];
    if (cell.dataset.order !== undefined) return Number(cell.dataset.order);
    var text = cell.textContent.trim();
    var value = Number(text.replace("−", "-").replace(/[,<>+\s]/g, ""));
    return text === "" || Number.isNaN(value) ? text.toLowerCase() : value;
  }
  function compared(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  }
  function sort(table, heading, column) {
    var descending = heading.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th[aria-sort]").forEach(function (th) { th.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    var rows = Array.from(table.tBodies[0].rows);
    rows.sort(function (a, b) {
      var result = compared(order(a, column), order(b, column));
      return descending ? -result : result;
    });
    rows.forEach(function (row) { table.tBodies[0].appendChild(row); });
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (heading, column) {
      if (heading.classList.contains("plain")) return;
      var control = document.createElement("button");
      control.type = "button";
      control.className = "sort";
      control.textContent = heading.textContent;
      heading.textContent = "";
      heading.appendChild(control);
      control.addEventListener("click", function () { sort(table, heading, column); });
    });
  });
})();
