/* node search.js SITE WORDS...: what the search of the site finds for each, best first, as JSON. */
const fs = require("fs"), vm = require("vm");
const [, , site, ...queries] = process.argv;
const node = () => ({ dataset: {}, style: {}, classList: { add() {} }, appendChild() {}, setAttribute() {} });
const document = {
  addEventListener() {}, createElement: node, documentElement: node(), getElementById: () => null,
  querySelector: node, readyState: "complete",
};
const context = vm.createContext({
  DOCUMENTATION_OPTIONS: {}, Documentation: {}, SPHINX_HIGHLIGHT_ENABLED: false, URLSearchParams, _: text => text,
  _ready() {}, console, document, localStorage: { getItem() {}, setItem() {} }, setTimeout,
});
context.window = context;
const load = name => vm.runInContext(fs.readFileSync(`${site}/${name}`, "utf8"), context);
load("_static/searchtools.js");
load("_static/language_data.js");
vm.runInContext("Search.setIndex = index => { Search._index = index; }", context);
load("searchindex.js");
const found = queries.map(query => {
  context.query = query;
  return vm.runInContext("Search._performSearch(...Search._parseQuery(query))", context).reverse().map(one => one[0]);
});
console.log(JSON.stringify(found));
