/* Lists above a table: the page has <div class="filtered" data-columns="Kind,State"></div> before it. Each list has the
   texts of one column, and the table shows the rows that have the chosen ones. */
for (const place of document.querySelectorAll("div.filtered")) {
  let table = place.nextElementSibling;
  while (table && !table.querySelector("tbody")) table = table.nextElementSibling;
  if (!table) continue;
  const text = cell => cell.textContent.trim();
  const heads = [...table.querySelectorAll("thead th")].map(text);
  const rows = [...table.querySelectorAll("tbody tr")];
  const count = document.createElement("output");
  const lists = place.dataset.columns.split(",").map(name => {
    const column = heads.indexOf(name);
    const values = [...new Set(rows.map(row => text(row.cells[column])).filter(Boolean))].sort();
    const list = document.createElement("select");
    list.append(new Option("all", ""), ...values.map(value => new Option(value)));
    const label = document.createElement("label");
    label.append(`${name} `, list);
    place.append(label, " ");
    return { column, list };
  });
  const show = () => {
    for (const row of rows)
      row.hidden = lists.some(({ column, list }) => list.value && text(row.cells[column]) != list.value);
    count.value = `${rows.filter(row => !row.hidden).length} of ${rows.length}`;
  };
  place.addEventListener("change", show);
  place.append(count);
  show();
}
