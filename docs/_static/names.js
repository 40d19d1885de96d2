/* The names of operators in the sidebar and in tables may break after an underscore. */
for (const place of document.querySelectorAll("nav.bd-links a, .bd-article td a")) {
  for (const text of [...place.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.includes("_"))) {
    text.replaceWith(...text.data.split(/(?<=_)/).flatMap((part) => [part, document.createElement("wbr")]));
  }
}
