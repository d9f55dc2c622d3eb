// Lets the playground work offline. `scripts/site/build-site.ts` fills in the settings.
const { name, base, files } = 'SETTINGS';
const CACHE = `sluice-site-${base}-${name}`;

addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(files))
      .then(() => skipWaiting()),
  );
});

addEventListener('activate', (event) => {
  event.waitUntil(removeOldCaches().then(() => clients.claim()));
});

addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin || !pathname.startsWith(base)) return;
  // The name of a file in this folder contains a hash of its content.
  event.respondWith(pathname.startsWith(`${base}assets/`) ? readCached(request) : readNewest(request));
});

async function readCached(request) {
  const cached = await caches.match(request);
  return cached ?? fetchInto(request);
}

async function readNewest(request) {
  try {
    return await fetchInto(request);
  } catch (error) {
    const cached = await caches.match(request, { ignoreSearch: true });
    if (cached === undefined) throw error;
    return cached;
  }
}

async function fetchInto(request) {
  const response = await fetch(request);
  if (response.ok) {
    const cache = await caches.open(CACHE);
    // Without the query, which only the page reads.
    await cache.put(new URL(request.url).pathname, response.clone());
  }
  return response;
}

async function removeOldCaches() {
  const prefix = `sluice-site-${base}-`;
  const names = await caches.keys();
  await Promise.all(names.filter((one) => one.startsWith(prefix) && one !== CACHE).map((one) => caches.delete(one)));
}
