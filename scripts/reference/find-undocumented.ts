import { z } from 'zod';

const Comment = z.object({
  summary: z.array(z.unknown()).default([]),
  blockTags: z.array(z.object({ tag: z.string() })).default([]),
});

const Declared = z.object({
  name: z.string(),
  kind: z.number(),
  comment: Comment.optional(),
  signatures: z.array(z.object({ comment: Comment.optional() })).default([]),
});

const Model = z.object({ children: z.array(z.object({ name: z.string(), children: z.array(Declared).default([]) })) });

/** Typedoc's kinds for functions and classes. */
const NEEDS_EXAMPLE = new Set([64, 128]);

/** Lists every public name without a doc comment, and every function and class without an example. */
export function findUndocumented(model: unknown): string[] {
  const { children: entries } = Model.parse(model);
  if (entries.length === 0) return ['typedoc found no entry'];
  return entries.flatMap((entry) =>
    entry.children.flatMap(({ name, kind, comment, signatures }) => {
      const findings = comment ?? signatures.find((signature) => signature.comment !== undefined)?.comment;
      if (findings === undefined || findings.summary.length === 0) return [`${entry.name}: ${name} has no doc comment`];
      const hasExample = findings.blockTags.some(({ tag }) => tag === '@example');
      return NEEDS_EXAMPLE.has(kind) && !hasExample ? [`${entry.name}: ${name} has no example`] : [];
    }),
  );
}
