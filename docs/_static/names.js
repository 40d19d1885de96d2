/* The names of operators in the sidebar and in tables may break after an underscore, those of calls after a slash. */
const breaks = [["nav.bd-links a, .bd-article td a", /(?<=_)/], [".bd-article td.text-right code .pre", /(?<=\/)/]];
for (const [places, after] of breaks) {
  for (const place of document.querySelectorAll(places)) {
    const texts = [...place.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && after.test(node.data));
    for (const text of texts) {
      text.replaceWith(...text.data.split(after).flatMap((part) => [part, document.createElement("wbr")]));
    }
  }
}
/* An option keeps its hyphens on one line. */
for (const word of document.querySelectorAll(".bd-article code .pre")) {
  word.classList.toggle("option", /^--?[a-z][a-z-]{0,23}$/.test(word.textContent));
}
