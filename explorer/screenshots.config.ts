//! Pictures for the documentation: `npm run screenshots`.

import { defineConfig } from '@playwright/test';

import base from './playwright.config';

export default defineConfig({
  ...base,
  testDir: 'pictures',
  fullyParallel: false,
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  use: { ...base.use, deviceScaleFactor: 1, locale: 'en-GB', timezoneId: 'UTC' },
});
