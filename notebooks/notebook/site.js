"use strict";
const lessons = JSON.parse(document.getElementById("data").textContent);
const form = document.getElementById("search");
const found = document.getElementById("found");
const list = document.querySelector("ol.lessons");
const plain = s => s.toLowerCase();

function element(tag, text, parent) {
  const e = document.createElement(tag);
  e.textContent = text;
  parent.append(e);
  return e;
}

// excerpt shows the text around the first of the words, and marks all of them.
function excerpt(text, words, parent) {
  const at = Math.min(...words.map(w => plain(text).indexOf(w)).filter(i => i >= 0), text.length);
  const from = at === text.length ? 0 : text.lastIndexOf(" ", Math.max(0, at - 60)) + 1;
  let part = (from > 0 ? "…" : "") + text.slice(from, from + 180) + (from + 180 < text.length ? "…" : "");
  const p = element("p", "", parent);
  while (part) {
    const hits = words.map(w => [plain(part).indexOf(w), w]).filter(h => h[0] >= 0).sort((a, b) => a[0] - b[0] || b[1].length - a[1].length);
    if (!hits.length) break;
    p.append(part.slice(0, hits[0][0]));
    element("mark", part.slice(hits[0][0], hits[0][0] + hits[0][1].length), p);
    part = part.slice(hits[0][0] + hits[0][1].length);
  }
  p.append(part);
}

// search lists the sections that contain every word, those with most words in their titles first.
function search(query) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  found.replaceChildren();
  list.hidden = words.length > 0;
  if (!words.length) return;
  const hits = [];
  for (const lesson of lessons) {
    for (const section of lesson.sections) {
      const title = plain(lesson.title + " " + section.title), text = plain(section.text);
      if (!words.every(w => title.includes(w) || text.includes(w))) continue;
      const count = words.reduce((n, w) => n + text.split(w).length - 1, 0);
      hits.push({ lesson, section, rank: 10 * words.filter(w => plain(section.title).includes(w)).length + Math.min(count, 9) });
    }
  }
  hits.sort((a, b) => b.rank - a.rank);
  element("p", hits.length === 1 ? "1 section" : hits.length + " sections", found).className = "count";
  for (const { lesson, section } of hits.slice(0, 40)) {
    const item = element("article", "", found);
    const link = element("a", section.title, element("h2", "", item));
    link.href = lesson.file + (section.id ? "#" + encodeURIComponent(section.id) : "");
    if (section.id) element("p", lesson.title, item).className = "lesson";
    excerpt(section.text, words, item);
  }
}

form.hidden = false;
form.addEventListener("submit", e => e.preventDefault());
form.elements.q.addEventListener("input", e => {
  history.replaceState(null, "", e.target.value ? "#q=" + encodeURIComponent(e.target.value) : location.pathname);
  search(e.target.value);
});
if (location.hash.startsWith("#q=")) {
  form.elements.q.value = decodeURIComponent(location.hash.slice(3));
  search(form.elements.q.value);
}
