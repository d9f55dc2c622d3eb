export { createThreadPool, ThreadError, type ThreadPool } from './thread-pool.js';
export { serveTasks } from './serve-tasks.js';
