import { ClientError } from '../../src/server/client/index.js';
import { asFailure } from './resource.js';

export type FieldErrors<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/** Why the server refused a form: messages per field, and a message for the rest. */
export interface Refusal<Field extends string> {
  readonly code: string;
  readonly errors: FieldErrors<Field>;
  /** Null if the field messages cover everything. */
  readonly message: string | null;
  /** Whether the server refused. Without a valid response, the request might have been executed. */
  readonly isCertain: boolean;
}

/** Maps the paths and codes of the server's problems to the fields of a form. */
export interface FieldMap<Field extends string> {
  readonly paths: Readonly<Record<string, Field>>;
  readonly codes: Readonly<Record<string, Field>>;
}

/** Assigns the server's problems to form fields: by the path of each issue, or else by code. */
export function readRefusal<Field extends string>(error: unknown, { paths, codes }: FieldMap<Field>): Refusal<Field> {
  const { code, message } = asFailure(error);
  const errors: Partial<Record<Field, string>> = {};
  const field = Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (field !== undefined) errors[field] = message;
  const issues = error instanceof ClientError ? (error.problem?.issues ?? []) : [];
  const unassigned = issues.filter((issue) => {
    const assigned = findField(issue.path, paths);
    if (assigned === undefined) return true;
    errors[assigned] ??= issue.message;
    return false;
  });
  const isAssigned = Object.keys(errors).length > 0 && unassigned.length === 0;
  const status = error instanceof ClientError ? error.status : null;
  return { code, errors, message: isAssigned ? null : message, isCertain: status !== null && status < 500 };
}

/** Finds the field for a path, or for its nearest ancestor with a field. */
function findField<Field extends string>(path: string, paths: Readonly<Record<string, Field>>): Field | undefined {
  for (let steps = path.split('.'); steps.length > 0; steps = steps.slice(0, -1)) {
    const parentPath = steps.join('.');
    if (Object.hasOwn(paths, parentPath)) return paths[parentPath];
  }
  return undefined;
}
