"use strict";
(function () {
	const NAME = 0, FAMILY = 1, TIME = 2, COUNT = 3, CHILDREN = 4;
	const root = JSON.parse(document.getElementById("tree").textContent);
	const holder = document.getElementById("flame");
	const detail = document.getElementById("detail");
	const hint = detail.textContent;
	let shown = [root];		/* from the root to the frame that is shown alone */
	let word = "";

	/* Statements are yellow, stages grey, waits by their class. */
	function color(frame) {
		const name = frame[NAME];
		if (frame[FAMILY] < 0)
			return "#c9d2dc";
		if (frame[FAMILY] === 1)
			return "#f2cf66";
		if (frame[FAMILY] === 2)
			return "#b9c6a5";
		if (name.startsWith("wait/lock/"))
			return "#ee8f8f";
		if (name.startsWith("wait/synch/"))
			return "#f3ab6d";
		if (name.startsWith("wait/io/file/"))
			return "#86b4ee";
		return name.startsWith("wait/io/table/") ? "#8fd3b6" : "#c3b0e3";
	}
	function time(ns) {
		const units = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9], ["min", 60e9], ["h", 3600e9]];
		let at = 0;
		while (at + 1 < units.length && ns >= units[at + 1][1])
			at++;
		return (ns / units[at][1]).toFixed(at ? 2 : 0) + " " + units[at][0];
	}
	function describe(frame) {
		return frame[NAME] + "  \u2014  " + time(frame[TIME]) + (frame[COUNT] ? ", " + frame[COUNT] + " times" : "") +
			", " + (100 * frame[TIME] / (root[TIME] || 1)).toFixed(1) + " % of all";
	}
	let deepest = 0;
	function bar(frame, path, left, width, row) {
		if (width < 0.05)
			return;
		const box = document.createElement("div");
		deepest = Math.max(deepest, row);
		box.style.left = left + "%";
		box.style.width = width + "%";
		box.style.top = 4 + row * 21 + "px";
		box.style.background = color(frame);
		box.textContent = frame[NAME];
		if (word && frame[NAME].toLowerCase().includes(word))
			box.className = "marked";
		box.addEventListener("mouseenter", () => detail.textContent = describe(frame));
		box.addEventListener("click", () => { shown = path; draw(); });
		holder.appendChild(box);
	}
	function inside(frame, path, left, width, row) {
		for (const child of frame[CHILDREN]) {
			const part = width * child[TIME] / (frame[TIME] || 1);
			bar(child, path.concat([child]), left, part, row);
			if (part >= 0.05)
				inside(child, path.concat([child]), left, part, row + 1);
			left += part;
		}
	}
	function draw() {
		holder.textContent = "";
		deepest = 0;
		shown.forEach((frame, row) => bar(frame, shown.slice(0, row + 1), 0, 100, row));
		inside(shown[shown.length - 1], shown, 0, 100, shown.length);
		holder.style.height = 12 + (deepest + 1) * 21 + "px";
	}
	holder.addEventListener("mouseleave", () => detail.textContent = shown.length > 1 ? describe(shown[shown.length - 1]) : hint);
	document.getElementById("reset").addEventListener("click", () => { shown = [root]; detail.textContent = hint; draw(); });
	document.getElementById("find").addEventListener("input", event => { word = event.target.value.toLowerCase(); draw(); });
	draw();
})();
