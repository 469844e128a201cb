// What the page does beyond its forms: it says what is new, and keeps what is typed. Without it, everything still works.
"use strict";

(() => {
  const page = document.body.dataset;
  const news = document.getElementById("news");
  const every = 2000;
  let number = Number(page.number || 0);
  let timer = 0;
  let looking = false;
  let silent = false;

  function say(text, kind, link) {
    const notice = document.createElement("p");
    notice.className = `notice ${kind}`;
    notice.textContent = text;
    if (link) {
      const anchor = document.createElement("a");
      anchor.href = link.href;
      anchor.textContent = link.text;
      notice.append(" ", anchor);
    }
    news.replaceChildren(notice);
  }

  // -- the inbox ------------------------------------------------------------------------------------------

  async function refreshList(cases) {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const list = document.getElementById("list");
    const known = new Set([...list.querySelectorAll("[data-case]")].map((one) => one.dataset.case));
    const focused = list.contains(document.activeElement) ? document.activeElement.closest("[data-case]") : null;
    const shown = fresh.getElementById("list");
    list.replaceChildren(...shown.childNodes);
    if (focused) {
      const same = list.querySelector(`[data-case="${focused.dataset.case}"] a`) || list.querySelector("a");
      if (same) same.focus({ preventScroll: true });
    }
    document.title = fresh.title;
    const now = [...list.querySelectorAll("[data-case]")].map((one) => one.dataset.case);
    const added = now.filter((id) => !known.has(id) && cases.some((one) => one.id === id && one.waits));
    const decided = cases.filter((one) => !one.waits && known.has(one.id));
    const said = [];
    if (added.length) said.push(`New: ${added.slice(0, 5).join(", ")}${added.length > 5 ? " and more" : ""}.`);
    for (const one of decided.slice(0, 3)) said.push(ended(one));
    if (said.length) say(said.join(" "), "news");
  }

  // -- one case -------------------------------------------------------------------------------------------

  function ended(one) {
    if (one.action === "context") return `${one.id} was answered by ${one.by}, with what a person has added.`;
    if (one.action === "withdraw") return `${one.id} was withdrawn by ${one.by}.`;
    return one.by ? `${one.id} was answered by ${one.by} (${one.action}).` : `${one.id} waits no longer (${one.status}).`;
  }

  function close() {
    for (const form of document.querySelectorAll("form[data-form]")) {
      for (const field of form.elements) {
        if (field.tagName === "TEXTAREA") field.readOnly = true;
        else if (field.tagName !== "FIELDSET") field.disabled = true;
      }
    }
  }

  function updateCase(told) {
    const mine = told.cases.find((one) => one.id === page.case);
    const place = `/cases/${page.case}`; // not where the page is: after a refusal that is the form's address
    const here = { href: place, text: "Show it" };
    const wasWorking = page.working === "yes";
    page.working = told.working ? "yes" : "no";
    if (mine && !mine.waits && page.waits === "yes") {
      page.waits = "no";
      close();
      say(`${ended(mine)} What you have typed stays here, and cannot be sent any more.`, "news", here);
    } else if (mine && mine.waits && mine.revision !== Number(page.revision)) {
      page.revision = mine.revision;
      close();
      say(`There is a newer answer (revision ${mine.revision}); a reply to the one shown here would be refused.`, "news", {
        ...here,
        text: "Show it, and keep what you have typed",
      });
    } else if (mine && mine.turns !== Number(page.turns)) {
      page.turns = mine.turns;
      if (!wasWorking) say("The talk goes on.", "news", { href: `${place}#talk`, text: "Show it" });
    }
    if (!wasWorking || told.working) return;
    if (page.waits !== "yes" || !begun()) location.replace(place);
    else say("The agent has been asked.", "news", { ...here, text: "Show it, and keep what you have begun" });
  }

  // -- expeditions and tasks ----------------------------------------------------------------------------------------

  function movedTasks(before) {
    const moved = [];
    for (const one of document.querySelectorAll("#list [data-task]")) {
      if (before.get(one.dataset.task) !== one.dataset.status) moved.push(`${one.dataset.name} ${one.dataset.status}`);
    }
    if (moved.length) say(`${moved.slice(0, 3).join(", ")}${moved.length > 3 ? " and more" : ""}.`, "news");
  }

  async function refreshFound(mark) {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const list = document.getElementById("list");
    const before = new Map([...list.querySelectorAll("[data-task]")].map((one) => [one.dataset.task, one.dataset.status]));
    const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    list.replaceChildren(...fresh.getElementById("list").childNodes);
    const same = focused && [...list.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused);
    if (same) same.focus({ preventScroll: true });
    page.mark = mark;
    if (page.tasks) {
      movedTasks(before);
      return;
    }
    const ended = page.page === "expedition" && list.querySelector(".final");
    say(ended ? "It has ended; the answer stands below." : "There is more below.", "news");
  }

  // -- asking what is new ---------------------------------------------------------------------------------

  async function look() {
    window.clearTimeout(timer);
    timer = 0;
    if (document.hidden || looking) return; // one chain of looks, however often the page is hidden and shown
    looking = true;
    try {
      const answer = await fetch(
        `/live?after=${number}&case=${page.case || ""}&expedition=${page.expedition || ""}&tasks=${page.tasks || ""}`,
      );
      if (answer.status === 401) {
        say("You are signed out. What you type stays here.", "refused", { href: "/sign-in", text: "Sign in" });
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      const told = await answer.json();
      if (silent) {
        silent = false;
        news.replaceChildren();
      }
      number = told.number;
      if (page.page === "inbox" && (told.cases.length || told.all)) await refreshList(told.cases);
      if (page.page === "case") updateCase(told);
      if (page.expedition && told.expedition !== page.mark) await refreshFound(told.expedition);
      if (page.tasks && told.tasks !== page.mark) await refreshFound(told.tasks);
    } catch {
      if (!silent) say("The server does not answer. What you type stays here.", "refused");
      silent = true;
    } finally {
      looking = false;
    }
    timer = window.setTimeout(look, every);
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !timer) look();
  });

  // -- what is typed --------------------------------------------------------------------------------------

  const key = `kr ${page.case}`;
  const revision = page.revision; // of the answer that is shown
  const texts = [...document.querySelectorAll('textarea, input[name="by"]')];
  const ways = [...document.querySelectorAll('input[name="action"]')];

  function begun() {
    return texts.some((one) => one.value !== one.defaultValue) || ways.some((one) => one.checked);
  }

  function keep() {
    const typed = Object.fromEntries(texts.filter((one) => one.value !== one.defaultValue).map((one) => [one.id, one.value]));
    const way = ways.find((one) => one.checked);
    if (way) typed.way = { id: way.id, revision };
    try {
      sessionStorage.setItem(key, JSON.stringify(typed));
    } catch {
      // a browser that keeps nothing
    }
  }

  function bringBack() {
    if (page.refused) return;
    let typed = {};
    try {
      typed = JSON.parse(sessionStorage.getItem(key) || "{}");
    } catch {
      return;
    }
    const chosen = ways.some((one) => one.checked); // a person may be quicker than this script
    for (const one of texts) {
      if (typeof typed[one.id] !== "string" || one.value !== one.defaultValue) continue;
      one.value = typed[one.id];
      if (!chosen) choose(one);
    }
    const way = typed.way && typed.way.revision === revision && !chosen && document.getElementById(typed.way.id);
    if (way) way.checked = true; // what was chosen for an older answer is not chosen for a newer one
  }

  function choose(text) {
    const way = text.dataset.for && document.getElementById(text.dataset.for);
    if (way) way.checked = true;
  }

  if (page.page === "case") {
    if (page.waits === "yes") bringBack();
    for (const one of texts) {
      one.addEventListener("input", () => {
        choose(one);
        keep();
      });
    }
    for (const one of ways) one.addEventListener("change", keep);
    for (const form of document.querySelectorAll("form[data-form]")) {
      form.addEventListener("submit", (event) => {
        if (form.dataset.sent) event.preventDefault(); // a second click says nothing new
        form.dataset.sent = "yes";
        try {
          sessionStorage.removeItem(key);
        } catch {
          // a browser that keeps nothing
        }
      });
    }
    window.addEventListener("pageshow", () => {
      for (const form of document.querySelectorAll("form[data-form]")) delete form.dataset.sent;
    });
    for (const start of document.querySelectorAll("template[data-start]")) {
      const text = document.getElementById(start.dataset.start);
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Start from the agent's answer";
      button.addEventListener("click", () => {
        text.value = start.content.textContent;
        keep();
        text.focus();
      });
      start.after(button);
    }
    const refused = document.getElementById("refused");
    if (refused) refused.focus();
  }

  timer = window.setTimeout(look, every);
})();
