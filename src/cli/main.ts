#!/usr/bin/env node
import { createProcessIo } from './command-io.js';
import { run } from './run.js';

const argv = process.argv.slice(2);
// Not `process.exit`, which would drop pending output.
process.exitCode = await run(argv, createProcessIo(argv));
