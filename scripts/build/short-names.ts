import { readFileSync, writeFileSync } from 'node:fs';
import { type BuildOptions, transform } from 'esbuild';

/**
 * Properties of `src/json` that no other floor and no user sees. The build gives them names of one or two letters, as
 * every bundler does with private names: it makes `sluice/json` smaller, and a user's bundler cannot know which they are.
 * `test/short-names.test.ts` checks that none of them is public, or a property of JavaScript.
 */
export const INTERNAL_NAMES: readonly string[] =
  `advance allInProse allowed awaitsValue base blocks builder char closers container containers
  controlCharacters createStructure cursor cut depthAt doublesQuotes due duplicates endCut endCutString endHere endValue enterCall
  fail failed failure final findEnd finish formulas found generous goTo hasSchema hidden inArray insideCall insideTag
  isDoubtful isInString isList isSuperfluous last lastClose leaveValueOut measureBare needsOwnReader objection otherAbove
  passSeparator pass place placeItems placeKey placeScalar plain plausible policy quote readBare readBareText reading
  refuse regions rejected removeLast reopenLast repair repairEnd repairsInProse rereads rest role rootCommaSeen rootEnd
  rootMustEnd seen separator setKey settings shown skip span startNextRoot startToken state step stepAfter stepClose
  structure token unescapedSeen untouched`.split(/\s+/);

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Options of esbuild that shorten these names, in every file to the same ones. */
export const SHORT_NAMES = {
  mangleProps: new RegExp(`^(?:${INTERNAL_NAMES.join('|')})$`),
  mangleCache: Object.fromEntries(INTERNAL_NAMES.map((name, index) => [name, createName(index)])),
} satisfies BuildOptions;

/** One letter, then two. The second one is a dollar sign: no other property ends with it. */
function createName(index: number): string {
  const letter = LETTERS.charAt(index % LETTERS.length);
  return letter + '$'.repeat(Math.floor(index / LETTERS.length));
}

/** Shortens the names in files of `dist`. */
export async function shortenNames(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const { code } = await transform(readFileSync(file, 'utf8'), { ...SHORT_NAMES, target: 'es2022' });
    writeFileSync(file, code);
  }
}
