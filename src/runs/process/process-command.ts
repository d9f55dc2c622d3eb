/** What to start. Never read by a shell. */
export interface ProcessCommand {
  /** The program, by name or path, and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment; nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Given whole, then closed. Without it the program reads an empty input, or its terminal. */
  readonly stdin?: string;
  /** Runs the program in a terminal: its output is one stream, `pty`. `stdin` still comes through a pipe. */
  readonly terminal?: boolean;
}
