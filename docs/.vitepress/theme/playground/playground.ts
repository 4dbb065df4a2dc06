// The playground: sends what is pasted or dropped to a worker, and shows what it answers. The worker is made from a blob, so that the
// Content-Security-Policy of the page holds for it, too.
import { examples } from "./examples.ts";
import type { Answer, Failure, Question, RuleFinding } from "./messages.ts";
import PlaygroundWorker from "./worker.ts?worker&inline";

const firstEntries = 100;

/** Makes the form of the page work. Returns a function that ends it. */
export function startPlayground(): () => void {
  const text = element<HTMLTextAreaElement>("playground-text");
  const url = element<HTMLInputElement>("playground-url");
  const file = element<HTMLInputElement>("playground-file");
  const place = element("playground-form");
  const worker: Worker = new PlaygroundWorker();
  let [asked, answered] = [0, 0];
  let next: Omit<Question, "number"> | undefined;
  let shown: string | File = "";

  // One document at a time: of what is typed meanwhile, the last counts.
  const ask = (document: string | File) => {
    shown = document;
    if (document === "") return show([], "");
    next = { document, url: url.value.trim() === "" ? undefined : url.value.trim() };
    send();
  };
  const send = () => {
    if (next === undefined || asked !== answered) return;
    asked += 1;
    element("playground-verdict").textContent = "Reading…";
    worker.postMessage({ ...next, number: asked } satisfies Question);
    next = undefined;
  };
  worker.onmessage = ({ data }: MessageEvent<Answer | Failure>) => {
    answered = data.number;
    if (next !== undefined) return send();
    if (shown === "") return;
    if ("error" in data) return show([], data.error);
    show(resultsOf(data, typeof shown === "string" ? text : undefined), verdictOf(data));
  };

  const take = (given: File | null | undefined) => {
    if (given === null || given === undefined) return;
    text.value = "";
    text.placeholder = given.name;
    ask(given);
  };
  const stop = new AbortController();
  const { signal } = stop;
  text.addEventListener("input", () => ask(text.value), { signal });
  url.addEventListener("change", () => ask(shown), { signal });
  file.addEventListener("change", () => take(file.files?.[0]), { signal });
  place.addEventListener("dragover", (event) => event.preventDefault(), { signal });
  place.addEventListener(
    "drop",
    (event) => {
      event.preventDefault();
      take(event.dataTransfer?.files[0]);
    },
    { signal },
  );
  for (const button of place.querySelectorAll<HTMLButtonElement>("[data-example]")) {
    const example = examples[button.dataset["example"] as keyof typeof examples];
    button.addEventListener(
      "click",
      () => {
        [text.value, url.value] = [example.text, example.url];
        ask(text.value);
      },
      { signal },
    );
  }
  place.dataset["ready"] = "yes";
  return () => {
    stop.abort();
    worker.terminate();
  };
}

function element<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`#${id} is missing`);
  return found as Kind;
}

function show(results: readonly Node[], verdict: string): void {
  element("playground-verdict").textContent = verdict;
  element("playground-results").replaceChildren(...results);
}

const names: Readonly<Record<string, string>> = {
  ...{
    xml: "XML sitemap",
    text: "Text sitemap",
    rss: "RSS feed",
    atom: "Atom feed",
    json: "JSON Feed",
    robots: "robots.txt",
    llms: "llms.txt",
  },
};

function verdictOf({ kind, format = "", count, complete, problems }: Answer): string {
  if (kind === "invalid") return problems[0]?.message ?? "";
  const name = `${names[format] ?? format}${kind === "index" && format === "xml" ? " index" : ""}`;
  const parts = [counted(count, kind === "index" ? "sitemap" : "page"), complete ? "complete" : "incomplete"];
  const wrong = problems.length === 0 ? "no problems" : counted(problems.length, "problem");
  return `${name}: ${parts.join(", ")}, ${wrong}`;
}

function resultsOf(answer: Answer, text: HTMLTextAreaElement | undefined): Node[] {
  const { problems, findings, entries, count, kind } = answer;
  const results: Node[] = [];
  if (problems.length > 0) {
    const rows = problems.map(({ line, code, message, count: times }) => [
      times === undefined ? message : `${message} (${times.toLocaleString("en")} times)`,
      lineButton(line, text),
      link(code, `problems.html`),
    ]);
    results.push(heading("Problems"), table(["what", "line", "code"], rows));
  }
  if (findings.length > 0) {
    results.push(heading("What check finds"), table(["severity", "what", "rule"], findings.map(findingRow)));
  }
  if (entries.length > 0) {
    const rows = entries.slice(0, firstEntries).map(({ url, lastModified = "" }) => [url, lastModified]);
    results.push(heading(kind === "index" ? "Sitemaps" : "Pages"), table(["URL", "last modified"], rows));
    if (count > firstEntries) results.push(paragraph(`… and ${(count - firstEntries).toLocaleString("en")} more`));
  }
  return results;
}

function findingRow({ severity, sentence, fix, rule, count, example }: RuleFinding): (string | Node)[] {
  const times = count > 1 ? ` (${count.toLocaleString("en")} times)` : "";
  const what = document.createElement("span");
  what.append(...withCode(`${sentence}${times}`), document.createElement("br"), ...withCode(fix));
  if (example !== undefined) what.append(document.createElement("br"), code(example));
  return [severity, what, link(rule, `check.html#${rule}`)];
}

// Sentences of rules have code between backticks.
function withCode(text: string): (string | Node)[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? code(part) : part));
}

function code(text: string): Node {
  const made = document.createElement("code");
  made.textContent = text;
  return made;
}

// Selects the line in the text, where that is on the page.
function lineButton(line: number | undefined, text: HTMLTextAreaElement | undefined): string | Node {
  if (line === undefined) return "";
  if (text === undefined) return `${line}`;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = `${line}`;
  button.title = "Show this line";
  button.addEventListener("click", () => {
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    text.scrollTop = (text.scrollHeight * (line - 3)) / lines.length;
  });
  return button;
}

function link(label: string, target: string): Node {
  const anchor = document.createElement("a");
  anchor.href = target;
  anchor.textContent = label;
  return anchor;
}

function heading(label: string): Node {
  const made = document.createElement("h2");
  made.textContent = label;
  return made;
}

function paragraph(label: string): Node {
  const made = document.createElement("p");
  made.textContent = label;
  return made;
}

function table(names: readonly string[], rows: readonly (readonly (string | Node)[])[]): Node {
  const made = document.createElement("table");
  const head = made.createTHead().insertRow();
  for (const name of names) {
    const cell = document.createElement("th");
    cell.textContent = name;
    head.append(cell);
  }
  const body = made.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [index, content] of row.entries()) {
      const cell = line.insertCell();
      cell.dataset["label"] = names[index] ?? "";
      cell.append(content);
    }
  }
  return made;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
