import { name, object } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

const paths = { type: 'array', items: name } as const;

/** What changed in the working folder during an attempt: paths relative to it, with forward slashes. */
export const fsDiffSchema = object({ created: paths, modified: paths, deleted: paths });

/** The files that an attempt created, changed and deleted. */
export type FsDiff = FromSchema<typeof fsDiffSchema>;
