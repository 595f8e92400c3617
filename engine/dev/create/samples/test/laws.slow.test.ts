// For import.meta.glob.
/// <reference types="vite/types/importMeta.d.ts" />

import { collectCases, laws, type ResourceCases } from 'tallystick-dev/testing/laws'

import { app } from '../src/app.ts'

// Tests the rules of every application for each procedure: access, declared errors, no data for other people, export and
// deletion of an account. Each resource has its cases in test/cases/.
laws(app, collectCases(import.meta.glob<ResourceCases>('./cases/*.ts', { eager: true, import: 'cases' })))
