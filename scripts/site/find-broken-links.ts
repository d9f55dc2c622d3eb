import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** The links and files that an element loads or opens. */
const LINK = /<(?:a|img|script|link|source)\b[^>]*?\s(?:href|src)="([^"]*)"/g;
const ID = /\sid="([^"]+)"/g;

/**
 * Lists every link of a built site that is outside its base path, or whose page, file or anchor does not exist. Addresses of
 * other sites are not opened.
 */
export function findBrokenLinks(folder: string, base: string): string[] {
  const files = new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/')),
  );
  const pages = new Map(
    [...files].filter((path) => path.endsWith('.html')).map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  const ids = new Map(
    [...pages].map(([path, html]) => [path, new Set([...html.matchAll(ID)].map(([, id = '']) => decode(id)))]),
  );
  const isBroken = (page: string, link: string): boolean => {
    const [address = '', anchor] = link.split('#');
    if (address.startsWith('/') && !address.startsWith(base)) return true;
    const [path = ''] = (address.startsWith('/') ? address.slice(base.length) : join(dirname(page), address)).split(
      '?',
    );
    const candidates = [decode(path), join(decode(path), 'index.html')];
    const target = address === '' ? page : candidates.find((name) => files.has(name) && /\.\w+$/.test(name));
    if (target === undefined) return true;
    const known = ids.get(target);
    return anchor !== undefined && anchor !== '' && known !== undefined && !known.has(decode(anchor));
  };
  return [...pages].flatMap(([page, html]) => {
    const links = new Set([...html.matchAll(LINK)].map(([, link = '']) => link.replaceAll('&amp;', '&')));
    return [...links].filter((link) => !/^\w+:/.test(link) && isBroken(page, link)).map((link) => `${page} → ${link}`);
  });
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"'));
}
