export { createThreadPool, ThreadError } from './thread-pool.js';
export { serveTasks } from './serve-tasks.js';
