import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const IMPORT = /(?:from|import)\s*\(?\s*'((?:@[\w.-]+\/)?[\w.-]+)[^']*'/g;

/** Finds the packages that the sources of a folder import. Their code is bundled, and so shipped to users. */
export async function findBundledPackages(folder: string): Promise<string[]> {
  const names = new Set<string>();
  for (const file of await readdir(folder, { recursive: true })) {
    if (!/\.tsx?$/.test(file) || /\.(?:test|contract)\.|(?:^|\/)fixtures\/|config\./.test(file)) continue;
    const text = await readFile(join(folder, file), 'utf8');
    for (const [, name = ''] of text.matchAll(IMPORT)) if (!/^\.|^sluice$|^node$/.test(name)) names.add(name);
  }
  return [...names].toSorted();
}
