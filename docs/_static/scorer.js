/* The scores of Sphinx's search, except that the changelog and the benchmarks come last: they name every operator. */
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    page === "changelog" || page.startsWith("benchmarks/") ? score - 1000 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
