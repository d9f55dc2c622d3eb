import { toAnchor } from './rewrite-links.js';

/** The pages of the codes: one for each room, with the titles of its sections in `docs/errors.md`. */
const ROOMS: readonly Readonly<{ name: string; title: string; sections: readonly string[] }>[] = [
  { name: 'json', title: 'Parsing', sections: ['Parse errors', 'Repairs', 'Warnings'] },
  { name: 'events', title: 'Events', sections: ['Diagnostics of events', "Reasons of an attempt's end"] },
  {
    name: 'runs',
    title: 'Runs',
    sections: ['Runs', 'Warnings of runs', 'Orphaned runs', 'Run folders', 'Warnings of run folders', 'The archive'],
  },
  { name: 'store', title: 'Store', sections: ['Store'] },
  {
    name: 'orders',
    title: 'Orders',
    sections: [
      'Work requests and wrappers',
      'Problems of work results',
      'Result codes of decisions',
      'Leads',
      'Sinks',
      'Repositories',
    ],
  },
  { name: 'server', title: 'Server', sections: ['Server', 'Client', 'Suites'] },
];

/** The page of sections that belong to no single room. */
const OTHER = { name: 'misuse', title: 'Misuse' };

/** Maps the anchor of each section of `docs/errors.md` to its page on the site. */
export function placeCodes(errors: string): ReadonlyMap<string, string> {
  return new Map(readSections(errors).map(({ title }) => [toAnchor(title), findPath(title)]));
}

/**
 * Renders the pages of the codes from `docs/errors.md`: one for each room, with an anchor for each code, and a list of
 * all codes.
 */
export function renderErrorPages(errors: string): (readonly [path: string, text: string])[] {
  const sections = readSections(errors);
  const introduction = errors.slice(errors.indexOf('\n'), errors.indexOf('\n## ')).trim();
  const pages = [...ROOMS, OTHER].flatMap(({ name, title }): (readonly [string, string])[] => {
    const path = `errors/${name}.md`;
    const own = sections.filter((section) => findPath(section.title) === path);
    if (own.length === 0) return [];
    const seen = new Set<string>();
    const text = own.map((section) => `## ${section.title}\n${anchorCodes(section.text, seen)}`).join('\n');
    return [[path, `# ${title}: codes\n\n${text}`]];
  });
  return [['errors/index.md', renderIndex(introduction, sections)], ...pages];
}

function renderIndex(introduction: string, sections: readonly Section[]): string {
  const codes = sections
    .flatMap(({ title, text }) => listCodes(text).map((code) => ({ code, title, path: findPath(title) })))
    .toSorted((one, other) => (one.code < other.code ? -1 : 1));
  const rows = codes.map(({ code, title, path }, index) => {
    const anchor = codes[index - 1]?.code === code ? '' : `<a id="${code}"></a>`;
    return `| ${anchor}[\`${code}\`](/${path}#${code}) | ${title} |`;
  });
  return [
    '# Error codes',
    '',
    introduction,
    '',
    '## All codes',
    '',
    '| code | section |',
    '| --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

type Section = Readonly<{ title: string; text: string }>;

function readSections(errors: string): Section[] {
  return errors
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      return { title: section.slice(0, end), text: section.slice(end + 1) };
    });
}

function findPath(title: string): string {
  return `errors/${(ROOMS.find(({ sections }) => sections.includes(title)) ?? OTHER).name}.md`;
}

const ROW = /^\| `(\w+)` \|/gm;

function listCodes(text: string): string[] {
  return [...text.matchAll(ROW)].map(([, code = '']) => code);
}

/** Adds an anchor to the first row of each code on a page. */
function anchorCodes(text: string, seen: Set<string>): string {
  return text.replaceAll(ROW, (row, code: string) => {
    if (seen.has(code)) return row;
    seen.add(code);
    return `| <a id="${code}" href="#${code}" class="code-anchor"><code>${code}</code></a> |`;
  });
}
