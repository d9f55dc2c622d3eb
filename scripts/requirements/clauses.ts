import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const Mutation = z.strictObject({
  file: z.string(),
  /** Occurs in the file exactly once. */
  search: z.string().min(1),
  replace: z.string(),
});

/** A file and the full name of a test or of a group of tests: titles, the outermost first, joined by ` > `. */
const Test = z.strictObject({ file: z.string().min(1), name: z.string().min(1) });

const Clause = z.strictObject({
  /** Document and sentence, as in `002.14`. */
  number: z.string().regex(/^\d{3}\.\d+$/),
  /** The clause, in our words. */
  behaviour: z.string().min(1),
  tests: z.array(Test).min(1),
  /** Changes of the sources that break the clause, one of them in a rarely seen variant; the tests must then fail. */
  mutations: z.array(Mutation).min(2),
});

const Deviation = z.strictObject({
  /** The rule of the document, in our words. */
  document: z.string().min(1),
  instead: z.string().min(1),
  reason: z.string().min(1),
  /** The tests that show what we do. */
  tests: z.array(Test).min(1),
});

const Requirements = z.strictObject({
  introduction: z.string(),
  documents: z.array(
    z.strictObject({
      title: z.string(),
      clauses: z.array(Clause),
      /** The rules of the document that are not followed to the letter. */
      deviations: z.array(Deviation),
      /** The part of the document that is not about the product; may be empty. */
      note: z.string(),
    }),
  ),
});

/** One behaviour of a source document, the tests that prove it, and the mutations that they must notice. */
export type Clause = z.infer<typeof Clause>;
/** A rule of a document that is not followed to the letter. */
export type Deviation = z.infer<typeof Deviation>;
/** One clause, broken on purpose. */
export type Mutation = z.infer<typeof Mutation>;
/** The data behind `docs/requirements.md`. */
export type Requirements = z.infer<typeof Requirements>;

/** Reads the data file. An incomplete clause is an error: it would not be checked. */
export async function readRequirements(path: string): Promise<Requirements> {
  return Requirements.parse(JSON.parse(await readFile(path, 'utf8')));
}

/** Lists the clauses of all documents. */
export function listClauses({ documents }: Requirements): readonly Clause[] {
  return documents.flatMap(({ clauses }) => clauses);
}
