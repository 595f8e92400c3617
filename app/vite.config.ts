import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// Besides the configuration of engine/dev/project/vite.ts.
export default defineConfig({ plugins: [react()] })
