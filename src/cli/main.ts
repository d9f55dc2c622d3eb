#!/usr/bin/env node
import { createProcessIo } from './process-io.js';
import { run } from './run.js';

// No `process.exit`: it would cut off output that is still on its way.
process.exitCode = await run(process.argv.slice(2), createProcessIo());
