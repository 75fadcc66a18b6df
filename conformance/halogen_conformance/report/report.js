"use strict";
// Everything a server sent reaches the page as text nodes only.
(function () {
  function make(name, cls, text) {
    var node = document.createElement(name);
    if (cls) node.className = cls;
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function folded(title, text) {
    var box = make("details");
    box.appendChild(make("summary", "", title));
    box.appendChild(make("pre", "", text));
    return box;
  }

  function pieces(frames) {
    var box = make("details");
    box.appendChild(make("summary", "", "Streamed body, " + frames.length + " pieces"));
    var list = make("div", "pieces");
    frames.forEach(function (frame) {
      var row = make("div", "frame");
      row.appendChild(make("span", "", frame[0] + " ms"));
      row.appendChild(make("code", "", frame[1]));
      list.appendChild(row);
    });
    box.appendChild(list);
    return box;
  }

  function step(one) {
    if (one.change) {
      var env = one.settings.map(function (pair) { return pair.join("="); }).join(" ");
      return make("p", "change", "Target " + one.change + (env ? " with " + env : ""));
    }
    var box = make("div", "exchange");
    var answer = one.status === null ? "no answer" : String(one.status);
    var label = one.label ? one.label + ": " : "";
    box.appendChild(make("h4", "", one.n + ". " + label + one.line + " → " + answer));
    var first = one.first === null ? "" : ", first byte after " + one.first + " ms";
    var left = one.left === null ? "" : ", left on purpose after " + one.left + " bytes";
    box.appendChild(make("p", "hint", one.ms + " ms" + first + left));
    if (one.error) box.appendChild(make("pre", "", one.error));
    box.appendChild(folded("Request", one.sent));
    if (one.got) box.appendChild(folded("Answer", one.got));
    if (one.frames.length) box.appendChild(pieces(one.frames));
    return box;
  }

  function fill(trace) {
    if (trace.dataset.filled) return;
    trace.dataset.filled = "yes";
    var data = document.getElementById("t-" + trace.dataset.test);
    JSON.parse(data.textContent).forEach(function (one) { trace.appendChild(step(one)); });
  }

  document.querySelectorAll("details.trace").forEach(function (trace) {
    trace.addEventListener("toggle", function () { if (trace.open) fill(trace); });
  });

  var buttons = Array.from(document.querySelectorAll("[data-filter]"));
  var find = document.getElementById("find");

  function apply() {
    var shown = {};
    buttons.forEach(function (one) {
      shown[one.dataset.filter] = one.getAttribute("aria-pressed") === "true";
    });
    var wanted = find.value.trim().toLowerCase();
    var any = false;
    document.querySelectorAll(".group").forEach(function (group) {
      var some = false;
      group.querySelectorAll(".req").forEach(function (row) {
        var fits = shown[row.dataset.verdict] &&
          (!wanted || row.textContent.toLowerCase().indexOf(wanted) >= 0);
        row.hidden = !fits;
        some = some || fits;
      });
      group.hidden = !some;
      any = any || some;
    });
    document.getElementById("none").hidden = any;
  }

  // The first choice means "only these"; with all chosen off again, everything is shown.
  buttons.forEach(function (one) {
    one.addEventListener("click", function () {
      var on = function (other) { return other.getAttribute("aria-pressed") === "true"; };
      if (buttons.every(on)) {
        buttons.forEach(function (other) {
          other.setAttribute("aria-pressed", String(other === one));
        });
      } else {
        one.setAttribute("aria-pressed", String(!on(one)));
        if (!buttons.some(on)) {
          buttons.forEach(function (other) { other.setAttribute("aria-pressed", "true"); });
        }
      }
      apply();
    });
  });
  find.addEventListener("input", apply);

  // A link to a requirement opens it.
  function reveal() {
    var row = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (row && row.tagName === "DETAILS") row.open = true;
  }
  window.addEventListener("hashchange", reveal);
  reveal();
})();
