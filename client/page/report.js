"use strict";

/* The plot: areas one on top of the other, the first kind of wait at the bottom. */
(function () {
	const holder = document.getElementById("plot");
	const source = document.getElementById("load-data");
	if (!holder || !source)
		return;
	const load = JSON.parse(source.textContent);
	const order = load.types.map((_, i) => i).filter(i => load.points.some(p => p[i + 2] > 0));
	const sum = i => load.points.reduce((total, p) => total + p[i + 2], 0);
	const length = load.points.reduce((total, p) => total + p[1] - p[0], 0);
	const average = i => load.points.reduce((total, p) => total + p[i + 2] * (p[1] - p[0]), 0) / length;
	/* CPU lies at the bottom, then the largest. */
	order.sort((a, b) => (load.types[b] === "CPU") - (load.types[a] === "CPU") || sum(b) - sum(a));
	const times = [], plain = order.map(() => []), stacked = order.map(() => []);
	function put(time, values) {
		let height = 0;
		times.push(time);
		order.forEach((type, i) => {
			const value = values ? values[type + 2] : null;
			plain[i].push(value);
			height += value || 0;
			stacked[i].push(values ? height : null);
		});
	}
	load.points.forEach((point, i) => {
		const next = load.points[i + 1];
		put(point[0], point);
		/* The end of the last period, and the begin of a time without any. */
		if (!next || next[0] > point[1] + Math.max(1, (point[1] - point[0]) / 2)) {
			put(point[1] - 0.001, point);
			if (next)
				put(point[1], null);
		}
	});
	const ink = getComputedStyle(document.body).color;
	const line = getComputedStyle(document.documentElement).getPropertyValue("--line");
	const steps = uPlot.paths.stepped({align: 1});
	/* The highest area is drawn first, so that the others lie before it. */
	const series = order.map((type, i) => ({
		label: load.types[type],
		stroke: load.colors[type],
		fill: load.colors[type],
		width: 0,
		paths: steps,
		points: {show: false},
		/* Where the pointer is nowhere, the average of all. */
		value: (plot, value, at, index) => index === null ? average(type).toFixed(2) : plain[i][index] === null ? "" : plain[i][index].toFixed(2)
	})).reverse();
	/* The server's own clock: its time as if it were UTC. */
	function local(seconds) {
		let offset = load.changes.length ? load.changes[0][1] : 0;
		for (const [since, by] of load.changes.slice(1))
			if (since <= seconds)
				offset = by;
		return new Date((seconds + offset) * 1000);
	}
	/* Hours of 24, and the day where it changes. */
	const pad = number => String(number).padStart(2, "0");
	function label(plot, splits) {
		let day = "";
		return splits.map(split => {
			const t = local(split);
			const date = t.getUTCFullYear() + "-" + pad(t.getUTCMonth() + 1) + "-" + pad(t.getUTCDate());
			const text = pad(t.getUTCHours()) + ":" + pad(t.getUTCMinutes()) + (split % 60 ? ":" + pad(Math.floor(split % 60)) : "");
			const first = date !== day;
			day = date;
			return first ? text + "\n" + date : text;
		});
	}
	const axis = {stroke: ink, grid: {stroke: line, width: 1}, ticks: {stroke: line, width: 1}};
	const plot = new uPlot({
		width: holder.clientWidth,
		height: 280,
		tzDate: stamp => uPlot.tzDate(local(stamp), "Etc/UTC"),
		scales: {y: {range: (plot, low, high) => [0, Math.max(1, high * 1.08)]}},
		axes: [Object.assign({values: label, space: 70}, axis), Object.assign({size: 48}, axis)],
		series: [{label: load.zone, value: (plot, value) => value === null ? "average" : local(value).toISOString().slice(0, 19).replace("T", " ")}].concat(series),
		legend: {live: true},
		cursor: {points: {show: false}, y: false}
	}, [times].concat(stacked.slice().reverse()), holder);
	window.addEventListener("resize", () => plot.setSize({width: holder.clientWidth, height: 280}));
})();

/* Tables are sorted by a click on a column's title: numbers the largest first, texts by alphabet. */
document.querySelectorAll("table.sortable").forEach(table => {
	const body = table.tBodies[0];
	const titles = Array.from(table.tHead.rows[0].cells);
	titles.forEach((title, column) => title.addEventListener("click", () => {
		const text = title.classList.contains("text");
		const before = title.getAttribute("aria-sort");
		const way = before ? (before === "descending" ? "ascending" : "descending") : text ? "ascending" : "descending";
		const sign = way === "ascending" ? 1 : -1;
		const key = row => text ? row.cells[column].textContent : Number(row.cells[column].dataset.v || -Infinity);
		const rows = Array.from(body.rows).map(row => [key(row), row]);
		rows.sort((a, b) => sign * (text ? a[0].localeCompare(b[0]) : a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
		rows.forEach(row => body.appendChild(row[1]));
		titles.forEach(other => other.removeAttribute("aria-sort"));
		title.setAttribute("aria-sort", way);
	}));
	/* A field to look for rows, where there are many. */
	if (body.rows.length > 10) {
		const field = document.createElement("input");
		field.className = "filter";
		field.type = "search";
		field.placeholder = "show rows with\u2026";
		field.addEventListener("input", () => {
			const wanted = field.value.toLowerCase();
			for (const row of body.rows)
				row.hidden = !row.textContent.toLowerCase().includes(wanted);
		});
		table.closest("section").prepend(field);
	}
});

document.querySelectorAll(".statement pre").forEach(text => text.addEventListener("click", () => {
	if (String(window.getSelection()) === "")
		text.parentElement.open = false;
}));
