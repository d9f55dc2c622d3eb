/** Whether a file is of the worker or of what it was given; others are what Sluice wrote down about it. */
export function isTelling(name: string): boolean {
  return /^(?:work_(?:order|result)\.|stdout\.|stderr\.|pty-output\.)/.test(name);
}
