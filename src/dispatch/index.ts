export { startWorker } from './start-worker.js';
export type { Worker, WorkerOptions } from './worker-options.js';
export { waitForOrder } from './wait-for-order.js';
export { runDemo } from './demo/run-demo.js';
export type { DemoOptions, DemoReport } from './demo/run-demo.js';
