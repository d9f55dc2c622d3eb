/** The words of a page: all that are written by hand, and those of them outside of code blocks. */
export interface WordCount {
  readonly written: number;
  readonly prose: number;
}

/** Between these comments, a page is generated from the code or compared with it. */
const GENERATED = /^<!-- [^>]*generated[^]*?^<!-- end\b.*-->$/gm;
const CODE = /^```[^]*?^```$/gm;

/**
 * Counts the words of a page: all that contain a letter or a digit, without the parts between `<!-- generated … -->` and `<!-- end -->`.
 *
 * @example
 * countWords('# A title\n\n```sh\nls\n```\n') // { written: 4, prose: 2 }
 */
export function countWords(page: string): WordCount {
  const text = page.replaceAll(GENERATED, '');
  return { written: listWords(text).length, prose: listWords(text.replaceAll(CODE, '')).length };
}

function listWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}
