#!/usr/bin/env node
import { createProcessIo } from './command-io.js';
import { run } from './run.js';

// Not `process.exit`, which would drop pending output.
process.exitCode = await run(process.argv.slice(2), createProcessIo());
