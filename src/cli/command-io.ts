/** The surroundings of a command, passed in so that a test can be them. */
export interface CommandIo {
  /** Called only by a command that reads standard input: merely looking at it keeps a program waiting. */
  readonly openStdin: () => InputStream;
  readonly openFile: (path: string) => AsyncIterable<Uint8Array>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** Bytes as they arrive, and whether a person types them. */
export interface InputStream extends AsyncIterable<Uint8Array> {
  readonly isTerminal: boolean;
  /** Nothing more is read: a program that still listens would not end before its input does. */
  readonly close?: () => void;
}

/** Text on its way out; resolves when it has been handed over, so that nothing is lost at the end. */
export interface OutputStream {
  readonly isTerminal: boolean;
  readonly write: (text: string) => Promise<void>;
  /** The reader has gone (`| head -1`): what is written from now on has nowhere to go. */
  readonly isGone?: () => boolean;
}
