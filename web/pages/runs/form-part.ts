import type { RunForm, Wrong } from './run-form.js';

/** What a part of the form is given. */
export interface FormPart {
  readonly fields: RunForm;
  readonly wrong: Wrong;
  readonly edit: (changes: Partial<RunForm>) => void;
  /** It is no agent: engine `command`. */
  readonly isCommand: boolean;
}
