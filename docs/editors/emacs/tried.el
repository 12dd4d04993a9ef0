;;; tried.el --- tried in Emacs, by eglot -*- lexical-binding: t -*-
;; Copy to ~/.emacs.d/tried.el and add (load (locate-user-emacs-file "tried")) to your init.el.

(require 'eglot)

(defvar tried-modes
  '(yaml-mode yaml-ts-mode json-mode js-json-mode json-ts-mode toml-mode conf-toml-mode toml-ts-mode)
  "Modes of configs in which tried is started; eglot has one server for a buffer.")

(add-to-list 'eglot-server-programs (cons tried-modes '("tried" "serve")))

(dolist (mode tried-modes)
  (add-hook (intern (format "%s-hook" mode)) #'eglot-ensure))

;; A folder with a tried.toml is a project, also outside of a repository (Emacs 29 and later).
(when (boundp 'project-vc-extra-root-markers)
  (add-to-list 'project-vc-extra-root-markers "tried.toml"))

;; Your own settings, in the words of docs/settings.md, for instance:
;; (setq-default eglot-workspace-configuration
;;               '(:tried (:editor (:debounce_ms 300) :findings (:severity (:near "hover")))))

(defun tried-related ()
  "List the past experiments that bear on this config, the best first."
  (interactive)
  (let ((answer (jsonrpc-request (eglot--current-server-or-lose) :tried/related
                                 (list :textDocument (eglot--TextDocumentIdentifier)))))
    (with-help-window "*tried*"
      (mapc (lambda (result)
              (princ (format "%2d  %.3f  %s\n" (plist-get result :rank) (plist-get result :score)
                             (plist-get result :name))))
            (plist-get answer :results)))))

(provide 'tried)
;;; tried.el ends here
