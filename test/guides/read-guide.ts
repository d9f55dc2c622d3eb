/** A step of a guide, from one of its blocks. */
export type GuideStep =
  | { readonly kind: 'file'; readonly line: number; readonly name: string; readonly text: string }
  | {
      readonly kind: 'program';
      readonly line: number;
      readonly text: string;
      readonly prints: string | undefined;
      /** With JSX. */
      readonly isJsx: boolean;
    }
  | { readonly kind: 'commands'; readonly line: number; readonly text: string; readonly prints: string | undefined };

interface Block {
  readonly line: number;
  readonly language: string;
  readonly name: string | undefined;
  readonly text: string;
}

/** Blocks that are not run: formats, and commands that need the reader's own computer. */
const NOT_RUN = new Set(['yaml', 'mermaid', 'console']);

/**
 * Reads the steps of a guide, in order. A `ts` or `tsx` block is a program, an `sh` block is executed, a block with a file name
 * after its language is that file, and a `text` block is the output of the block before it. Any other kind of block is
 * an error, because nothing would test it.
 *
 * @example
 * readGuide('```ts\nconsole.log(1);\n```\n\n```text\n1\n```\n') // one program that prints 1
 */
export function readGuide(page: string): GuideStep[] {
  const steps: GuideStep[] = [];
  for (const { line, language, name, text } of listBlocks(page)) {
    const last = steps.at(-1);
    if (name !== undefined) steps.push({ kind: 'file', line, name, text });
    else if (language === 'ts' || language === 'tsx') {
      steps.push({ kind: 'program', line, text, prints: undefined, isJsx: language === 'tsx' });
    } else if (language === 'sh') steps.push({ kind: 'commands', line, text, prints: undefined });
    else if (language === 'text' && last !== undefined && last.kind !== 'file' && last.prints === undefined) {
      steps.splice(-1, 1, { ...last, prints: text });
    } else if (!NOT_RUN.has(language)) throw new Error(`line ${line}: a "${language}" block cannot be tested`);
  }
  return steps;
}

function listBlocks(page: string): Block[] {
  const fence = /^```(\w*)(?: (\S+))?\n([^]*?)^```$/gm;
  return [...page.matchAll(fence)].map((match) => ({
    line: page.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    name: match[2],
    text: match[3] ?? '',
  }));
}

/** Checks whether output matches the output in a guide, where `…` matches anything. */
export function matchesOutput(text: string, expected: string): boolean {
  const parts = expected.trimEnd().split('…');
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('[^]*?');
  return new RegExp(`^${pattern}$`).test(text.trimEnd());
}
