import type { BuildOptions } from 'esbuild';

/**
 * Internal properties of `src/json`, one line per kind of object, most used first. The build shortens them to one
 * letter, which makes `sluice/json` smaller; a user's bundler cannot do this, because it cannot distinguish internal
 * properties. Objects of different kinds use the same letters. `test/short-names.test.ts` checks that no name is public
 * or a property of JavaScript, and that two properties of one object never get the same letter.
 */
const NAMES_BY_KIND = `
  cursor token policy structure measureBare readBareText readBare endCutString startToken createStructure
  cursor builder state role plausible isComplete refuse advance rootMustEnd due goTo insideCall endValue skipValue rereads rootCommaSeen rootEnd stepAfter stepContent stepClose awaitsValue finish doublesQuotes isSuperfluous placeKey placeScalar startNextRoot enterCall passSeparator skipElision
  char matchHere repair failure final base allowed fail formulas repairEnd endHere elidedAt elide
  last place openDepth otherAbove inArray duplicates reopenLast setKey placeItems removeLast show root isExact runs top locate finished
  container step contents openDepth otherAbove shown isList
  separator decoded shown unescapedSeen endCut isDoubtful
  endQuote cut repair
  closers plain rest
  acceptsAnyText rootMustEnd formulas
  failure plausible duplicates isExact isElided
  blocks regions
  untouched lastClose isClosed
  settings failed seen rejected
  reading found rejection
  hasSchema repairsInProse needsOwnReader
  reading span seen
  hidden pass insideTag
  isInString findEnd depthAt
  containers
  skip
  reader
  isDenied
  finished`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(' '));

export const INTERNAL_NAMES: readonly string[] = [...new Set(NAMES_BY_KIND.flat())];

/** The most frequent letters of minified code first. */
const LETTERS = 'etnsriaolcdupmhfgbykvwxETNSRIAOLCDUPMHFG';

/** Options of esbuild that shorten these names, to the same letters in every file. */
export const SHORT_NAMES = {
  mangleProps: new RegExp(`^(?:${INTERNAL_NAMES.join('|')})$`),
  mangleCache: assignLetters(),
} satisfies BuildOptions;

/** Assigns each name the first letter not used by another name of the same kind. */
function assignLetters(): Record<string, string> {
  const letters: Record<string, string> = {};
  for (const name of INTERNAL_NAMES) {
    const usedLetters = NAMES_BY_KIND.filter((kind) => kind.includes(name)).flatMap((kind) =>
      kind.map((other) => letters[other]),
    );
    const letter = Array.from(LETTERS).find((candidate) => !usedLetters.includes(candidate));
    if (letter === undefined) throw new Error(`No letter is left for ${name}.`);
    letters[name] = letter;
  }
  return letters;
}
