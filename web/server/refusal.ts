import { ClientError } from '../../src/client/index.js';
import { asFailure } from './use-resource.js';

/** Why a form was not taken: sentences at their fields, and what belongs to none of them. */
export interface Refusal<Field extends string> {
  readonly code: string;
  readonly wrong: Readonly<Partial<Record<Field, string>>>;
  /** Null if the fields say everything. */
  readonly message: string | null;
  /** The server has refused. Otherwise no response came, or a broken one, and the request may have been executed. */
  readonly isCertain: boolean;
}

/** The form field for each path or code of the server. */
export interface Places<Field extends string> {
  readonly places: Readonly<Record<string, Field>>;
  readonly codes: Readonly<Record<string, Field>>;
}

/**
 * Assigns the problems that the server reports to form fields: by the path of each of its issues, or else by its code.
 *
 * @example
 * readRefusal(error, { places: { 'contract.schema': 'schema' }, codes: { FOLDER_NOT_ALLOWED: 'workdir' } })
 */
export function readRefusal<Field extends string>(error: unknown, { places, codes }: Places<Field>): Refusal<Field> {
  const { code, message } = asFailure(error);
  const wrong: Partial<Record<Field, string>> = {};
  const field = Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (field !== undefined) wrong[field] = message;
  const issues = error instanceof ClientError ? (error.problem?.issues ?? []) : [];
  const strays = issues.filter((issue) => {
    const at = findField(issue.path, places);
    if (at === undefined) return true;
    wrong[at] ??= issue.message;
    return false;
  });
  const isAssigned = Object.keys(wrong).length > 0 && strays.length === 0;
  const status = error instanceof ClientError ? error.status : null;
  return { code, wrong, message: isAssigned ? null : message, isCertain: status !== null && status < 500 };
}

/** The field of the longest place that contains a path. */
function findField<Field extends string>(path: string, places: Readonly<Record<string, Field>>): Field | undefined {
  for (let steps = path.split('.'); steps.length > 0; steps = steps.slice(0, -1)) {
    const place = steps.join('.');
    if (Object.hasOwn(places, place)) return places[place];
  }
  return undefined;
}
