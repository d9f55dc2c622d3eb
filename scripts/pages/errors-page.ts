import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PROJECT } from '../run-tool.js';

const ErrorCodes = z.object({
  introduction: z.string(),
  sections: z.array(
    z.object({
      title: z.string(),
      introduction: z.string(),
      columns: z.array(z.string()),
      codes: z.record(z.string(), z.array(z.string())),
    }),
  ),
});

/** The data behind `docs/errors.md`: every code by section, with its meaning and what to do. */
export type ErrorCodes = z.infer<typeof ErrorCodes>;

/** Reads `docs/errors.json`. */
export async function readErrorCodes(): Promise<ErrorCodes> {
  return ErrorCodes.parse(JSON.parse(await readFile(join(PROJECT, 'docs/errors.json'), 'utf8')));
}

/** Renders `docs/errors.md`. */
export function renderErrorsPage({ introduction, sections }: ErrorCodes): string {
  const parts = sections.map(({ title, introduction: about, columns, codes }) => {
    const rows = Object.entries(codes).map(([code, cells]) => [`\`${code}\``, ...cells]);
    const table = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
    return [`## ${title}`, about, table.join('\n')].join('\n\n');
  });
  return `${['# Codes: what they mean and what to do', introduction, ...parts].join('\n\n')}\n`;
}
