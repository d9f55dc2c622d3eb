import { getErrorMessage } from '../../../src/base/index.js';
import { createTextReader, type Numbered, type WorkerResponse, type WorkerRequest } from './text-reader.js';

const reader = createTextReader(() => performance.now());

// Input can be long, so it is parsed here to keep the page responsive.
addEventListener('message', ({ data: { number, message } }: MessageEvent<Numbered<WorkerRequest>>) => {
  const response: Numbered<WorkerResponse> = { number, message: handleRequest(number, message) };
  postMessage(response);
});

function handleRequest(number: number, request: WorkerRequest): WorkerResponse {
  try {
    return reader.handle(number, request);
  } catch (error) {
    return { kind: 'failed', message: getErrorMessage(error) };
  }
}
